// Uniform sub-sampling of rows.
#pragma once

#include <croquis/sketch/sized_sketch.hpp>

namespace croquis {

enum class SampleReplacement { with, without };

/// Column j of S (n x d) is sqrt(n/d) e_i with i uniform: Skeinformer Def. 3.1 with p_i = 1/n. (Skyformer's Def. 1
/// omits the factor sqrt(n).)
/// Guarantees: E[S S^T] = I. Var (S S^T)_ii is (n - 1) / d with replacement, and (n - d) / d without, where S^T S =
///   (n/d) I.
/// Randomness: index j depends only on the key and on j: it is that of sample_with_replacement or
///   sample_without_replacement on the key. A sketch with more columns on the same key begins with the columns of a
///   smaller one, up to the factor 1 / sqrt(d), with and without replacement.
/// Cost: a gather of d k numbers for each product. The sketch stores d indices.
/// Throws: std::invalid_argument unless n >= 1, d >= 1 and, without replacement, d <= n; and for a factor of the wrong
///   size.
class UniformSampling : public SizedSketch<UniformSampling> {
 public:
  static constexpr std::string_view kName = "UniformSampling";

  UniformSampling(arma::uword n, arma::uword d, const Key& key,
                  SampleReplacement replacement = SampleReplacement::with);

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
