// What streamed products return in addition to their result.
#pragma once

#include <armadillo>

namespace croquis {

/// Where to store additional results of Y = M X with m_ij = exp(s_ij), scaled by rows. nullptr means that a result is
/// not wanted.
template <typename T>
struct StreamedExtra {
  arma::Col<T>* row_maxima = nullptr;  ///< row maxima of the scores s_ij; 0 with RowScale::none
  arma::Col<T>* sums = nullptr;        ///< row sums of exp(s_ij - row maximum)
  arma::Col<T>* last = nullptr;        ///< the last column of M X, which is then not part of Y
};

}  // namespace croquis
