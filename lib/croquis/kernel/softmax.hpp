// The softmax kernel exp(q.k / sqrt(p)), which is only computed relative to the maximum of a row.
#pragma once

#include <armadillo>
#include <croquis/kernel/row_sums.hpp>
#include <croquis/kernel/streamed_extra.hpp>

namespace croquis {

/// The transposed logits Q K^T / sqrt(p): b x a for Q (a x p) and K (b x p). The logits of one query are a contiguous
/// column.
/// Cost: 2 a b p flops.
/// Throws: std::invalid_argument unless Q and K have the same p >= 1.
template <typename T>
arma::Mat<T> scores_transposed(const arma::Mat<T>& q, const arma::Mat<T>& k);

/// Replaces every column s by softmax(s) = exp(s - max s) / sum, which is non-negative and sums to 1. Returns the
/// maximum and the sum of each column. Throws std::invalid_argument if the columns have no entries.
template <typename T>
RowSums<T> softmax_columns(arma::Mat<T>& scores);

/// softmax(Q K^T / sqrt(p)) by rows, transposed: b x a for Q (a x p) and K (b x p), with columns that sum to 1. Throws
/// as the two functions above.
template <typename T>
arma::Mat<T> softmax_transposed(const arma::Mat<T>& q, const arma::Mat<T>& k);

/// softmax(Q K^T / sqrt(p) + 1 l^T) X (a x c) for X (b x c), by streamed_product(), without storing the a x b weights.
/// l contains the logarithms of weights of the keys. If it is empty, l = 0.
/// Cost: 2 a b (p + c) flops and a b exponentials.
/// Throws: std::invalid_argument for sizes that do not fit, for logarithms that are NaN or +infinity, and if all are
///   -infinity.
template <typename T>
arma::Mat<T> softmax_product(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& x,
                             const StreamedExtra<T>& extra = {}, const arma::Col<T>& log_weights = {});

}  // namespace croquis
