// Accumulations of sub-sampling sketches.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

/// S = (S_1 + ... + S_m) / sqrt(m), column j of S_a being r_aj sqrt(n / d) e_i with i uniform and r_aj = +-1 fair.
/// Distribution: all (i, r) independent; the signs make E[S S^T] = I, without them the off-diagonal would be (m - 1) /
///   n. One addend is uniform sub-sampling, m -> infinity a sub-Gaussian sketch: Chen & Yang 2021 (arXiv 2103.04031),
///   with uniform probabilities. An index drawn twice in a column has the sum of its signs.
/// Randomness: addend a draws its d indices with the key's child("indices").child(a) as UniformSampling does, and
///   its signs are the bits of child("signs").child(a); the same in float and double. A sketch with more columns on the
///   same key begins with the smaller one, up to the factor 1 / sqrt(d).
/// Cost: 2 m d k flops and m d draws a product.
/// Throws: std::invalid_argument unless 1 <= n < 2^32, d >= 1 and m >= 1, and for a factor of another size.
class AccumulativeSketch : public SparseSketch<AccumulativeSketch> {
 public:
  static constexpr std::string_view kName = "AccumulativeSketch";

  AccumulativeSketch(arma::uword n, arma::uword d, arma::uword m, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return d_; }
  arma::uword addends() const { return m_; }

 private:
  friend SparseSketch<AccumulativeSketch>;
  static constexpr bool kByRows = false;

  template <typename T>
  SparseColumns<T> sparse() const;

  arma::uword n_, d_, m_;
  Key indices_, signs_;
};

}  // namespace croquis
