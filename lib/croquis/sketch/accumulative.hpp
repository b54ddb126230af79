// Accumulations of sub-sampling sketches.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

/// S = (S_1 + ... + S_m) / sqrt(m), where column j of S_a is r_aj sqrt(n / d) e_i with i uniform and r_aj = +-1 fair.
/// Distribution: all (i, r) are independent. The signs make E[S S^T] = I; without them the off-diagonal entries would
///   be (m - 1) / n. One addend is uniform sub-sampling up to signs, and m -> infinity gives a sub-Gaussian sketch:
///   Chen & Yang 2021 (arXiv 2103.04031), with uniform probabilities. If an index is drawn twice in a column, its entry
///   is the sum of the two signed values.
/// Randomness: addend a draws its d indices with key.child("indices").child(a) as UniformSampling does, and its signs
///   are the bits of key.child("signs").child(a). Draws are the same in float and double. A sketch with more columns on
///   the same key begins with the columns of a smaller one, up to the factor 1 / sqrt(d).
/// Cost: 2 m d k flops and m d draws for each product, for which S is generated in (12 m + 8) d bytes, (8 m + 8) d in
///   float.
/// Throws: std::invalid_argument unless 1 <= n < 2^32, d >= 1 and m >= 1, for a factor of the wrong size, and where
///   m d nonzeros are more than memory holds.
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
