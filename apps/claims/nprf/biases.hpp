// Relative position biases that the claims are checked on.
#pragma once

#include <croquis/random/key.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <string>
#include <vector>

struct NamedPosition {
  std::string name;
  croquis::RelativePosition<double> position;
};

/// ALiBi with slopes 0.01 and 1, T5's buckets, independent normals of deviation 3, all finite, one dimension.
std::vector<NamedPosition> finite_biases(arma::uword n, const croquis::Key& draw_key);

/// Those, a causal one, a window of 8 tokens to either side (-inf beyond), and an image of 4 rows where 4 divides n.
std::vector<NamedPosition> all_biases(arma::uword n, const croquis::Key& draw_key);

/// exp(b_{j-i} - max b), n x n, from the definition.
arma::mat dense_weights(const croquis::RelativePosition<double>& position, arma::uword n);
