// The softmax kernel exp(q.k / sqrt(p)), which is only ever formed relative to the maximum of a row.
#pragma once

#include <armadillo>
#include <croquis/kernel/streamed_extra.hpp>

namespace croquis {

/// Scores S = Q K^T / sqrt(p), transposed: b x a for Q (a x p) and K (b x p). A query's scores are one contiguous
/// column.
template <typename T>
arma::Mat<T> scores_transposed(const arma::Mat<T>& q, const arma::Mat<T>& k);

/// Replaces every column s by softmax(s) = exp(s - max s) / sum; non-negative, sums to 1. Returns the log-sum-exp of
/// each column.
template <typename T>
arma::Col<T> softmax_columns(arma::Mat<T>& scores);

/// softmax(Q K^T / sqrt(p)) by rows, transposed: b x a with columns that sum to 1.
template <typename T>
arma::Mat<T> softmax_transposed(const arma::Mat<T>& q, const arma::Mat<T>& k);

/// softmax(Q K^T / sqrt(p) + 1 l^T) X, a x c for X (b x c), without the a x b weights in memory: streamed_product(). l
/// are logs of weights of the keys; without them l = 0.
template <typename T>
arma::Mat<T> softmax_product(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& x,
                             const StreamedExtra<T>& extra = {}, const arma::Col<T>& log_weights = {});

}  // namespace croquis
