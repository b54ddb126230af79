// Block sizes of the products and the adjoint of RelativeScores, and helpers for blocks.
#pragma once

#include <algorithm>
#include <armadillo>

namespace croquis {

/// The maximum numbers of directions, queries and keys in a block.
struct RelativeBlocks {
  static constexpr arma::uword kDirections = 64, kQueries = 256, kKeys = 512;
};

/// The indices first, first + 1, ... of a block: at most `most` of them, all below `end`.
inline arma::uvec block_indices(arma::uword first, arma::uword most, arma::uword end) {
  return arma::regspace<arma::uvec>(first, std::min(first + most, end) - 1);
}

}  // namespace croquis
