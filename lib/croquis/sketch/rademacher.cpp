#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/rademacher.hpp>
#include <croquis/sketch/row_blocks.hpp>

namespace croquis {

RademacherSketch::RademacherSketch(arma::uword n, arma::uword d, const Key& key) : n_(n) {
  require(n >= 1 && d >= 1, "RademacherSketch", "n >= 1, d >= 1", {{"n", n}, {"d", d}});
  columns_.reserve(d);
  for (arma::uword j = 0; j < d; ++j) columns_.push_back(key.child(j));
}

template <typename T>
auto RademacherSketch::fill() const {
  return [this, magnitude = 1 / std::sqrt(static_cast<T>(cols()))](arma::uword j, arma::uword first, arma::uword count,
                                                                   T* out) {
    fill_signs(columns_[j], first, count, magnitude, out);
  };
}

template <typename T>
arma::Mat<T> RademacherSketch::left(const arma::Mat<T>& m) const {
  require(m.n_rows == n_, "RademacherSketch::left", "a matrix with n rows", {{"rows", m.n_rows}, {"n", n_}});
  return left_by_blocks(m, cols(), fill<T>());
}

template <typename T>
arma::Mat<T> RademacherSketch::right(const arma::Mat<T>& m) const {
  require(m.n_cols == n_, "RademacherSketch::right", "a matrix with n columns", {{"cols", m.n_cols}, {"n", n_}});
  return right_by_blocks(m, cols(), fill<T>());
}

template <typename T>
arma::Mat<T> RademacherSketch::expand(const arma::Mat<T>& m) const {
  require(m.n_rows == cols(), "RademacherSketch::expand", "a matrix with d rows", {{"rows", m.n_rows}, {"d", cols()}});
  return expand_by_blocks(m, n_, fill<T>());
}

template <typename T>
arma::Mat<T> RademacherSketch::rows_of(arma::uword first, arma::uword count) const {
  require(first + count <= n_, "RademacherSketch::rows_of", "rows of S",
          {{"first", first}, {"count", count}, {"n", n_}});
  return rows_by_columns<T>(first, count, cols(), fill<T>());
}

template <typename T>
arma::Mat<T> RademacherSketch::dense() const {
  return rows_of<T>(0, n_);
}

static_assert(Sketch<RademacherSketch, float> && Sketch<RademacherSketch, double>);
template arma::Mat<float> RademacherSketch::left(const arma::Mat<float>&) const;
template arma::Mat<double> RademacherSketch::left(const arma::Mat<double>&) const;
template arma::Mat<float> RademacherSketch::right(const arma::Mat<float>&) const;
template arma::Mat<double> RademacherSketch::right(const arma::Mat<double>&) const;
template arma::Mat<float> RademacherSketch::expand(const arma::Mat<float>&) const;
template arma::Mat<double> RademacherSketch::expand(const arma::Mat<double>&) const;
template arma::Mat<float> RademacherSketch::dense() const;
template arma::Mat<double> RademacherSketch::dense() const;
template arma::Mat<float> RademacherSketch::rows_of(arma::uword, arma::uword) const;
template arma::Mat<double> RademacherSketch::rows_of(arma::uword, arma::uword) const;

}  // namespace croquis
