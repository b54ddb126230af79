// Very sparse random projections.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>
#include <vector>

namespace croquis {

/// S_ij = sqrt(q / d) {+1, 0, -1} with probabilities 1/2q, 1 - 1/q, 1/2q, independently (S is n x d).
/// Guarantees: E[S S^T] = I and Var (S S^T)_ii = (q - 1) / d. q = sqrt(n) is that of Li, Hastie & Church 2006, Sec. 2.
///   q = 1 is the distribution of RademacherSketch, and q = 3 that of Achlioptas 2003, Thm. 1.1.
/// Randomness: column j uses key.child(j). Its nonzeros are drawn in ascending order. Nonzero e uses block e of the
///   child: words 0 and 1 give the geometric gap before it, floor(log U / log(1 - 1/q)), and word 2 gives its sign.
///   Draws are the same in float and double. With the same key and q, a sketch with more columns or rows begins with
///   those of a smaller one, up to the factor 1 / sqrt(d).
/// Cost: on average n d / q random blocks and 2 n d k / q flops for each product, for which S is generated.
/// Throws: std::invalid_argument unless 1 <= n < 2^32, d >= 1 and q >= 1 is finite (a description takes a q up to
///   10^15), and for a factor of the wrong size.
class VerySparseSketch : public SparseSketch<VerySparseSketch> {
 public:
  static constexpr std::string_view kName = "VerySparseSketch";

  VerySparseSketch(arma::uword n, arma::uword d, double q, const Key& key);
  /// With q = sqrt(n).
  VerySparseSketch(arma::uword n, arma::uword d, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return column_keys_.size(); }
  double q() const { return q_; }

 private:
  friend SparseSketch<VerySparseSketch>;
  static constexpr bool kByRows = false;

  template <typename T>
  SparseColumns<T> sparse() const;

  arma::uword n_;
  double q_;
  std::vector<Key> column_keys_;
};

}  // namespace croquis
