// The Gaussian Johnson-Lindenstrauss sketch.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>
#include <vector>

namespace croquis {

/// S_ij = z_ij / sqrt(d) with z_ij independent N(0,1): Linformer; Skeinformer Sec. 3.3, after Def. 3.2.
/// Guarantees: E[S S^T] = I and Var (S S^T)_ii = 2 / d.
/// Randomness: z_ij is normal number i of key.child(j). Float and double are different draws. A sketch with more
///   columns on the same key begins with the columns of a smaller one, up to the factor 1 / sqrt(d).
/// Cost: 2 n d k flops and n d normals for each product. S is generated in blocks of rows and never stored.
/// Throws: std::invalid_argument unless n >= 1 and d >= 1, and for a factor of the wrong size.
class GaussianSketch : public SizedSketch<GaussianSketch> {
 public:
  static constexpr std::string_view kName = "GaussianSketch";

  GaussianSketch(arma::uword n, arma::uword d, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return columns_.size(); }
  template <typename T>
  arma::Mat<T> dense() const;

  /// Rows first ... first + count - 1 of S (count x d), without generating the others. Throws std::invalid_argument
  /// unless S has these rows.
  template <typename T>
  arma::Mat<T> rows_of(arma::uword first, arma::uword count) const;

 private:
  friend SizedSketch<GaussianSketch>;

  template <typename T>
  arma::Mat<T> left_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> right_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> expand_of(const arma::Mat<T>& m) const;

  template <typename T>
  auto fill() const;
  template <typename T>
  T scale() const;

  arma::uword n_;
  std::vector<Key> columns_;
};

}  // namespace croquis
