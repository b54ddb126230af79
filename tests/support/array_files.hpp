// Queries, keys and values as the files that the program is given.
#pragma once

#include <armadillo>
#include <croquis/io/npy.hpp>

#include "support/files.hpp"

/// q.npy, k.npy and v.npy.
inline void write_arrays(const TemporaryFolder& folder, const arma::mat& q, const arma::mat& k, const arma::mat& v) {
  croquis::write_npy((folder / "q.npy").string(), q);
  croquis::write_npy((folder / "k.npy").string(), k);
  croquis::write_npy((folder / "v.npy").string(), v);
}
