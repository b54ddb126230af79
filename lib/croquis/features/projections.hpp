// Random projections W, whose rows are the directions of random features.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The distribution of the rows w_r of W (m x p).
enum class ProjectionDistribution {
  iid,         ///< independent N(0, I_p)
  haar,        ///< blocks of p rows: a Haar-orthogonal matrix times independent chi_p norms
  orthogonal,  ///< blocks of p rows: sqrt(p) times a Haar-orthogonal matrix
  sorf,        ///< blocks of p' = 2^ceil(log2 p) rows: H D1 H D2 H D3 / p', D diagonal signs, the first p columns
  halton,      ///< Halton points with a random shift, through the normal quantile
};
std::string_view name_of(ProjectionDistribution distribution);
/// All names, in the order of the enum.
std::vector<std::string> projection_names();
/// Throws std::invalid_argument for an unknown name; the message lists the known ones.
ProjectionDistribution projection_distribution(std::string_view name);

/// W (m x p), applied to points.
///
/// Distribution: the distribution of one row w decides whether features are unbiased.
///   - iid, haar, halton: w ~ N(0, I_p) exactly.
///   - haar: the QR decomposition of a Gaussian matrix, with columns multiplied by sign(R_ii). Without these signs
///     Householder QR is not rotation invariant. Rows of one block are orthogonal, rows of different blocks
///     independent.
///   - halton: a Cranley-Patterson rotation, that is one uniform shift for each coordinate modulo 1, makes every point
///     uniform. The points fill the cube evenly only if m is large compared with the p-th prime (311 for p = 64). For
///     smaller m the coordinates of a draw are correlated.
///   - orthogonal: w is uniform on the sphere of radius sqrt(p). E[w w^T] = I, but w is not normal.
///   - sorf: E[w w^T] = I, but w is not normal. x is padded with zeros to p'. The scale sqrt(p') (p')^{-3/2} = 1/p'
///     keeps E[(w.x)^2] = ||x||^2 for every p (Yu et al. 2016 have p = p').
///   - The last block of haar, orthogonal and sorf is truncated if m is not a multiple of p or p'. Every row still has
///     the distribution above.
/// Randomness: row r of iid uses draw_key.child(r). Block b uses draw_key.child("block").child(b), norms
///   draw_key.child("norm").child(r), and the shift draw_key.child("shift"). A W with more rows on the same random key
///   begins with the rows of a smaller one. Draws are made in double and rounded to T.
/// Cost: m p normals for iid, and m p quantiles for halton. haar and orthogonal make whole blocks, M rows where M is m
///   rounded up to a multiple of p: M p normals, for haar m p more for the norms, and 8/3 M p^2 flops. Applied to n
///   points, projection_flops(). Memory for m p numbers, for sorf 3 m', where m' is m rounded up to a multiple of p'.
/// Throws: std::invalid_argument unless m, p >= 1, and p <= 10000 for halton (the number of primes in Boost.Math), and
///   where W is more than memory holds; std::runtime_error if QR fails.
template <typename T>
class Projection {
 public:
  Projection(ProjectionDistribution distribution, arma::uword m, arma::uword p, const Key& draw_key);

  arma::uword rows() const { return m_; }
  arma::uword cols() const { return p_; }
  /// X W^T restricted to rows first ... first + count - 1 of W: n x p -> n x count. Throws std::invalid_argument unless
  /// X has p columns and W these rows.
  arma::Mat<T> apply(const arma::Mat<T>& x, arma::uword first, arma::uword count) const;
  arma::Mat<T> apply(const arma::Mat<T>& x) const { return apply(x, 0, m_); }
  /// W, m x p.
  arma::Mat<T> dense() const;
  /// W^T (p x m), if it is stored. Empty for sorf, which is applied by its signs.
  const arma::Mat<T>& columns() const { return columns_; }
  /// Replaces W by factor W, so that points need not be scaled.
  void scale(T factor);

 private:
  void apply_signs(const arma::Mat<T>& x, arma::uword first, arma::Mat<T>& product) const;

  arma::uword m_, p_;
  arma::Mat<T> columns_;  // W^T, p x m; empty for sorf
  arma::Mat<T> signs_;    // sorf: p' x 3 blocks, columns D3, D2, D1 of each block, D1 with the scale 1/p'
};

/// The flops of apply() for n points and all m rows: 2 n m p, and for sorf 3 n m' log2 p' additions.
double projection_flops(ProjectionDistribution distribution, double n, double m, double p);

}  // namespace croquis
