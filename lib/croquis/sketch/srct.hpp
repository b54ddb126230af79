// The subsampled randomised cosine transform.
#pragma once

#include <croquis/linalg/cosine_transform.hpp>
#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

/// S^T = sqrt(n/d) R C D, where D is a diagonal matrix of n fair random signs, C is the orthonormal DCT-II of length n,
/// and R selects d different uniform rows r_j.
/// S_ij = sqrt(n/d) D_i sqrt((2 - [r_j = 0]) / n) cos(pi (2i + 1) r_j / 2n).
/// Guarantees: E[S S^T] = I and S^T S = (n/d) I. Avron, Maymounkov & Toledo 2010, Sec. 3; their analysis needs only
///   that C is orthogonal with n C_ki^2 <= 2. There is no padding: n is arbitrary, and d <= n.
/// Randomness: D_i is bit i of key.child("signs"), and r_j is index j of sample_without_replacement(n, ...) on
///   key.child("rows"). Draws are the same in float and double. A sketch with more columns on the same key begins with
///   the columns of a smaller one, up to the factor 1 / sqrt(d).
/// Cost: one FFTW transform, O(n log n) for any n, for each of the k columns of M (rows, in `right`), whatever d is,
///   and n numbers of memory for each thread. `right` also transposes M and its product. The sketch stores d indices.
/// Throws: std::invalid_argument unless 1 <= d <= n < 2^31, and for a factor of the wrong size.
class SrctSketch : public SizedSketch<SrctSketch> {
 public:
  static constexpr std::string_view kName = "SrctSketch";

  SrctSketch(arma::uword n, arma::uword d, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return rows_.n_elem; }
  template <typename T>
  arma::Mat<T> dense() const;

 private:
  friend SizedSketch<SrctSketch>;

  template <typename T>
  arma::Mat<T> left_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> right_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> expand_of(const arma::Mat<T>& m) const;

  template <typename T>
  arma::Col<T> scaled_signs() const;

  std::size_t work() const;

  arma::uword n_;
  Key signs_;
  arma::uvec rows_;
};

}  // namespace croquis
