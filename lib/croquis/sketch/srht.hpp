// The subsampled randomised Hadamard transform.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

/// S^T = sqrt(n'/d) R H D on the first n coordinates. n' is the next power of two, H is the orthonormal Hadamard matrix
/// of order n', D is a diagonal matrix of n fair random signs, and R selects d different uniform rows r_j of n'.
/// S_ij = D_i (-1)^popcount(i & r_j) / sqrt(d).
/// Guarantees: E[S S^T] = I, and the diagonal is exactly 1 in every draw. S^T S = (n'/d) I if n = n'. Ailon & Chazelle
///   2009 (with a sparse projection in place of R); Tropp 2011, Thm. 1.3 (an embedding of every r-dimensional subspace
///   with d of order (r + log n) log r).
/// Randomness: D_i is bit i of key.child("signs"), and r_j is index j of sample_without_replacement(n', ...) on
///   key.child("rows"). Draws are the same in float and double. A sketch with more columns on the same key begins with
///   the columns of a smaller one, up to the factor 1 / sqrt(d).
/// Cost: n' log2 n' additions for each of the k columns of M (rows, in `right`), whatever d is, and n' numbers of
///   memory for each thread. `right` also transposes M and its product. The sketch stores d indices.
/// Throws: std::invalid_argument unless n >= 1 and 1 <= d <= n', and for a factor of the wrong size.
class SrhtSketch : public SizedSketch<SrhtSketch> {
 public:
  static constexpr std::string_view kName = "SrhtSketch";

  SrhtSketch(arma::uword n, arma::uword d, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return rows_.n_elem; }
  template <typename T>
  arma::Mat<T> dense() const;

 private:
  friend SizedSketch<SrhtSketch>;

  template <typename T>
  arma::Mat<T> left_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> right_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> expand_of(const arma::Mat<T>& m) const;

  template <typename T>
  arma::Col<T> scaled_signs() const;

  template <typename T, typename Body>
  void for_columns(arma::uword count, const Body& body) const;

  arma::uword n_, length_;
  Key signs_;
  arma::uvec rows_;
};

}  // namespace croquis
