// What sketches have in common: a base class that checks the sizes of factors, and one for sketches with few nonzeros.
#pragma once

#include <croquis/linalg/sparse_columns.hpp>
#include <croquis/random/key.hpp>
#include <croquis/sketch/sketch.hpp>
#include <string_view>

namespace croquis {

/// These throw std::invalid_argument unless the factor of S^T M, M S or S M has n rows, n columns or d rows.
void require_left_factor(std::string_view sketch, arma::uword rows, arma::uword n);
void require_right_factor(std::string_view sketch, arma::uword cols, arma::uword n);
void require_expand_factor(std::string_view sketch, arma::uword rows, arma::uword d);

/// Throws std::invalid_argument if count times `each` nonzeros of `bytes` bytes are more than memory holds.
void require_nonzeros(std::string_view sketch, arma::uword count, arma::uword each, std::size_t bytes);

/// Base of a sketch S (n x d). It provides left, right and expand, which check the size of their factor and throw
/// std::invalid_argument if it is wrong. The derived class S has kName (for messages), rows(), cols(), dense<T>() and,
/// private with `friend SizedSketch<S>`, these functions for factors of the right sizes:
///   left_of(m) = S^T M, right_of(m) = M S, expand_of(m) = S M.
template <typename S>
class SizedSketch {
 public:
  template <typename T>
  arma::Mat<T> left(const arma::Mat<T>& m) const {
    require_left_factor(S::kName, m.n_rows, self().rows());
    return self().left_of(m);
  }
  template <typename T>
  arma::Mat<T> right(const arma::Mat<T>& m) const {
    require_right_factor(S::kName, m.n_cols, self().rows());
    return self().right_of(m);
  }
  template <typename T>
  arma::Mat<T> expand(const arma::Mat<T>& m) const {
    require_expand_factor(S::kName, m.n_rows, self().cols());
    return self().expand_of(m);
  }

 protected:
  const S& self() const { return static_cast<const S&>(*this); }
};

/// Base of a sketch S with few nonzeros. It provides all products and dense(). The derived class S has, private with
/// `friend SparseSketch<S>`, the constant kByRows and
///   sparse<T>() -> SparseColumns<T>: the columns of S or, with kByRows = true, its rows (the columns of S^T).
template <typename S>
class SparseSketch : public SizedSketch<S> {
 public:
  template <typename T>
  arma::Mat<T> dense() const {
    if constexpr (S::kByRows) return this->self().template sparse<T>().dense().t();
    return this->self().template sparse<T>().dense();
  }

 private:
  friend SizedSketch<S>;

  template <typename T>
  arma::Mat<T> left_of(const arma::Mat<T>& m) const {
    if constexpr (S::kByRows) return this->self().template sparse<T>().times(m);
    return this->self().template sparse<T>().transposed_times(m);
  }
  template <typename T>
  arma::Mat<T> right_of(const arma::Mat<T>& m) const {
    if constexpr (S::kByRows) return this->self().template sparse<T>().transposed_after(m);
    return this->self().template sparse<T>().after(m);
  }
  template <typename T>
  arma::Mat<T> expand_of(const arma::Mat<T>& m) const {
    if constexpr (S::kByRows) return this->self().template sparse<T>().transposed_times(m);
    return this->self().template sparse<T>().times(m);
  }
};

}  // namespace croquis

/// The products of a sketch S that are defined in its source file, in both precisions.
#define CROQUIS_INSTANTIATE_SKETCH(S)                                      \
  template arma::Mat<float> S::left_of(const arma::Mat<float>&) const;     \
  template arma::Mat<double> S::left_of(const arma::Mat<double>&) const;   \
  template arma::Mat<float> S::right_of(const arma::Mat<float>&) const;    \
  template arma::Mat<double> S::right_of(const arma::Mat<double>&) const;  \
  template arma::Mat<float> S::expand_of(const arma::Mat<float>&) const;   \
  template arma::Mat<double> S::expand_of(const arma::Mat<double>&) const; \
  template arma::Mat<float> S::dense() const;                              \
  template arma::Mat<double> S::dense() const
