// What streamed products give beside their result.
#pragma once

#include <armadillo>

namespace croquis {

/// For Y = M X with m_ij = exp(s_ij), scaled by rows: where to put what comes with it, or nullptr.
template <typename T>
struct StreamedExtra {
  arma::Col<T>* tops = nullptr;  ///< the largest score of every row; 0 where exponentials are taken as they are
  arma::Col<T>* sums = nullptr;  ///< row sums of exp(s_ij - top_i)
  arma::Col<T>* last = nullptr;  ///< the last column of M X, which Y then lacks
};

}  // namespace croquis
