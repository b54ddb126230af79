#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/rademacher.hpp>
#include <croquis/sketch/row_blocks.hpp>

namespace croquis {

RademacherSketch::RademacherSketch(arma::uword n, arma::uword d, const Key& key) : n_(n) {
  require(n >= 1 && d >= 1, "RademacherSketch", "n >= 1, d >= 1", {{"n", n}, {"d", d}});
  columns_ = key.children(d);
}

template <typename T>
auto RademacherSketch::fill() const {
  return [this, magnitude = 1 / std::sqrt(static_cast<T>(cols()))](arma::uword j, arma::uword first, arma::uword count,
                                                                   T* out) {
    fill_signs(columns_[j], first, count, magnitude, out);
  };
}

template <typename T>
arma::Mat<T> RademacherSketch::left_of(const arma::Mat<T>& m) const {
  return left_by_blocks(m, cols(), fill<T>());
}

template <typename T>
arma::Mat<T> RademacherSketch::right_of(const arma::Mat<T>& m) const {
  return right_by_blocks(m, cols(), fill<T>());
}

template <typename T>
arma::Mat<T> RademacherSketch::expand_of(const arma::Mat<T>& m) const {
  return expand_by_blocks(m, n_, fill<T>());
}

template <typename T>
arma::Mat<T> RademacherSketch::rows_of(arma::uword first, arma::uword count) const {
  require(count <= n_ && first <= n_ - count, "RademacherSketch::rows_of", "rows of S",
          {{"first", first}, {"count", count}, {"n", n_}});
  return rows_by_columns<T>(first, count, cols(), fill<T>());
}

template <typename T>
arma::Mat<T> RademacherSketch::dense() const {
  return rows_of<T>(0, n_);
}

static_assert(Sketch<RademacherSketch, float> && Sketch<RademacherSketch, double>);
CROQUIS_INSTANTIATE_SKETCH(RademacherSketch);
template arma::Mat<float> RademacherSketch::rows_of(arma::uword, arma::uword) const;
template arma::Mat<double> RademacherSketch::rows_of(arma::uword, arma::uword) const;

}  // namespace croquis
