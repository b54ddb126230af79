// CountSketches side by side.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>
#include <vector>

namespace croquis {

/// S = (C_1 ... C_zeta) / sqrt(zeta), where the C_b are independent CountSketches with d / zeta columns: every row of
/// C_b has one entry +-1.
/// Guarantees: E[S S^T] = I, and the diagonal is exactly 1 in every draw. S is an (r, 1/2)-oblivious subspace injection
///   for d of order r and zeta of order log r: Camano, Epperly, Meyer & Tropp 2025 (arXiv 2508.21189). The authors
///   conjecture it for some d of order r and some constant zeta, and recommend zeta = 4 and d = 2r from experiments.
/// Randomness: row i of block b uses word i of key.child(b), which gives a column of the block (uniform up to 2^-64)
///   and, in the lowest bit, a sign. Draws are the same in float and double. A sketch with more blocks of the same
///   width on the same key begins with the blocks of a smaller one, up to the factor 1 / sqrt(zeta).
/// Cost: 2 zeta n k flops and zeta n random words for each product, for which S is generated in (12 zeta + 8) n bytes,
///   (8 zeta + 8) n in float.
/// Throws: std::invalid_argument unless n >= 1, zeta >= 1 and d is a positive multiple of zeta below 2^32, and for a
///   factor of the wrong size.
class SparseStack : public SparseSketch<SparseStack> {
 public:
  static constexpr std::string_view kName = "SparseStack";

  SparseStack(arma::uword n, arma::uword d, arma::uword zeta, const Key& key);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return blocks_.size() * width_; }
  arma::uword zeta() const { return blocks_.size(); }

 private:
  friend SparseSketch<SparseStack>;
  static constexpr bool kByRows = true;

  /// S^T by columns: S by rows.
  template <typename T>
  SparseColumns<T> sparse() const;

  arma::uword n_, width_ = 0;
  std::vector<Key> blocks_;
};

}  // namespace croquis
