// Uniform sub-sampling of rows.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

enum class Replacement { with, without };

/// Column j of S is sqrt(n/d) e_i with i uniform: Skeinformer Def. 3.1 with p_i = 1/n. (Skyformer's Def. 1 omits the
/// sqrt(n): sqrt(n) times its S is this one.)
/// Randomness: index j depends on the key and j alone. A sketch with more columns on the same key begins with
///   the smaller one, up to the factor 1 / sqrt(d), with and without replacement. Cost: a gather, d k numbers.
class UniformSampling : public SizedSketch<UniformSampling> {
 public:
  static constexpr std::string_view kName = "UniformSampling";

  /// n >= 1 rows, d >= 1 columns; d <= n without replacement.
  UniformSampling(arma::uword n, arma::uword d, const Key& key, Replacement replacement = Replacement::with);

  arma::uword rows() const { return n_; }
  arma::uword cols() const { return indices_.n_elem; }
  const arma::uvec& indices() const { return indices_; }
  template <typename T>
  arma::Mat<T> dense() const;

 private:
  friend SizedSketch<UniformSampling>;

  template <typename T>
  arma::Mat<T> left_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> right_of(const arma::Mat<T>& m) const;
  template <typename T>
  arma::Mat<T> expand_of(const arma::Mat<T>& m) const;

  template <typename T>
  T scale() const;

  arma::uword n_;
  arma::uvec indices_;
};

}  // namespace croquis
