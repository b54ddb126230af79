// The sparse Johnson-Lindenstrauss transform and CountSketch.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

/// Every row of S (n x d) has s entries +-1 / sqrt(s), in s different columns. s = 1 is CountSketch.
/// Distribution: the columns are uniform among all subsets of size s, signs are fair, and rows are independent. So E[S
///   S^T] = I, and the diagonal is exactly 1 in every draw. Charikar, Chen & Farach-Colton 2002 (s = 1); Kane & Nelson
///   2014, Sec. 3 (s > 1, their graph construction).
/// Randomness: row i uses the words i s ... i s + s - 1 of the key. Each gives a column among those that are left
///   (uniform up to 2^-64) and, in the lowest bit, a sign. Draws are the same in float and double. The columns depend
///   on d, so sketches of two sizes differ; for a sketch that can be extended see SparseStack.
/// Cost: 2 s n k flops and s n random words for each product, for which S is generated in (12 s + 8) n bytes,
///   (8 s + 8) n in float.
/// Throws: std::invalid_argument unless n >= 1 and 1 <= s <= d < 2^32, and for a factor of the wrong size.
class SjltSketch : public SparseSketch<SjltSketch> {
 public:
  static constexpr std::string_view kName = "SjltSketch";

  SjltSketch(arma::uword n, arma::uword d, arma::uword s, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return d_; }

 private:
  friend SparseSketch<SjltSketch>;
  static constexpr bool kByRows = true;

  /// S^T by columns: S by rows.
  template <typename T>
  SparseColumns<T> sparse() const;

  arma::uword n_, d_, s_;
  Key key_;
};

}  // namespace croquis
