// Relative position biases that the claims are checked on.
#pragma once

#include <croquis/random/key.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <string>
#include <vector>

namespace croquis::claims {

struct NamedPosition {
  std::string name;
  RelativePosition<double> position;
};

/// ALiBi with slopes 0.01 and 1, T5's buckets, independent normals of standard deviation 3; all finite, in one
/// dimension.
/// Randomness: children of the key by name. Throws std::invalid_argument for n = 0. Cost: n.
std::vector<NamedPosition> finite_biases(arma::uword n, const Key& draw_key);

/// finite_biases(), a causal one, a window of 8 tokens to either side (-inf beyond), and an image of 4 rows if 4
/// divides n. Randomness, throws, cost: as finite_biases().
std::vector<NamedPosition> all_biases(arma::uword n, const Key& draw_key);

/// exp(b_{j-i} - max b), n x n, from the definition (RelativePosition): the dense matrix of the Toeplitz operator.
/// Throws std::invalid_argument unless position.height divides n. Cost: n^2.
arma::mat dense_weights(const RelativePosition<double>& position, arma::uword n);

}  // namespace croquis::claims
