// The Rademacher sketch: independent signs.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>
#include <vector>

namespace croquis {

/// S_ij = +-1 / sqrt(d) with independent fair signs (S is n x d).
/// Guarantees: E[S S^T] = I, and the diagonal is exactly 1 in every draw. Entries are sub-Gaussian: Achlioptas 2003,
///   Thm. 1.1.
/// Randomness: the sign of S_ij is bit i of key.child(j), the same in float and double. A sketch with more columns on
///   the same key begins with the columns of a smaller one, up to the factor 1 / sqrt(d).
/// Cost: 2 n d k flops and n d random bits for each product. S is generated in blocks of rows and never stored.
/// Throws: std::invalid_argument unless n >= 1 and d >= 1, and for a factor of the wrong size.
class RademacherSketch : public SizedSketch<RademacherSketch> {
 public:
  static constexpr std::string_view kName = "RademacherSketch";

  RademacherSketch(arma::uword n, arma::uword d, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return columns_.size(); }
  template <typename T>
  arma::Mat<T> dense() const;

  /// Rows first ... first + count - 1 of S (count x d), without generating the others. Throws std::invalid_argument
  /// unless S has these rows.
  template <typename T>
  arma::Mat<T> rows_of(arma::uword first, arma::uword count) const;

 private:
  friend SizedSketch<RademacherSketch>;

  template <typename T>
  arma::Mat<T> left_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> right_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> expand_of(const arma::Mat<T>& m) const;

  template <typename T>
  auto fill() const;

  arma::uword n_;
  std::vector<Key> columns_;
};

}  // namespace croquis
