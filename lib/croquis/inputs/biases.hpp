// Relative position biases like those of trained models. All functions return 2n - 1 numbers, for t = -(n-1) ... n-1,
// and throw std::invalid_argument for n = 0, options outside their ranges, and more than memory holds.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>

namespace croquis {

/// b_t = -slope |t| (ALiBi, Press et al. 2022). The slope may have any sign; the entries have to
/// be finite.
arma::vec alibi_bias(arma::uword n, double slope);

struct T5Bias {
  int buckets = 32;        ///< even, >= 4; half of them are for t > 0
  int max_distance = 128;  ///< > buckets / 4: from here on all distances share the last bucket
  double deviation = 1.0;  ///< sigma >= 0 of the values
};

/// b_t = beta_{bucket(t)} with beta_k independent N(0, sigma^2) and the buckets of T5's encoder (Raffel et al. 2020).
/// Let h = buckets / 2 and e = floor(h / 2). Each distance below e has a bucket of its own. A larger distance has the
/// bucket min(h - 1, e + floor((h - e) log(|t| / e) / log(max_distance / e))). For t > 0, where the key comes after its
/// query, h is added.
/// Randomness: beta_k is normal number k of the random key.
arma::vec t5_bias(arma::uword n, const T5Bias& options, const Key& draw_key);

/// b_t independent N(0, sigma^2).
/// Randomness: b_t is normal number 2 |t| - [t > 0] of the random key, so a longer input contains the biases of a
///   shorter one.
arma::vec random_bias(arma::uword n, double deviation, const Key& draw_key);

}  // namespace croquis
