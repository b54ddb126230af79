#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/nystrom/segment_means.hpp>

namespace croquis {

template <typename T>
arma::Mat<T> segment_means(const arma::Mat<T>& x, arma::uword d) {
  require(d >= 1 && d <= x.n_rows, "segment_means", "1 <= d <= n", {{"d", d}, {"n", x.n_rows}});
  const arma::uword length = x.n_rows / d, longer = x.n_rows % d;
  arma::Mat<T> means(d, x.n_cols, arma::fill::none);
  parallel_for(x.n_cols, x.n_rows, [&](std::size_t c) {
    const arma::Col<T> column = x.unsafe_col(c);
    for (arma::uword s = 0, first = 0; s < d; ++s) {
      const arma::uword count = length + (s < longer ? 1 : 0);
      means.at(s, c) = arma::mean(column.subvec(first, first + count - 1));
      first += count;
    }
  });
  return means;
}

template <typename T>
arma::Mat<T> spread_segments(const arma::Mat<T>& x, arma::uword n) {
  const arma::uword d = x.n_rows;
  require(d >= 1 && d <= n, "spread_segments", "1 <= d <= n", {{"d", d}, {"n", n}});
  const arma::uword length = n / d, longer = n % d;
  arma::Mat<T> y(n, x.n_cols);
  for (arma::uword s = 0, first = 0; s < d; ++s) {
    const arma::uword count = s < longer ? length + 1 : length;
    y.rows(first, first + count - 1).each_row() = x.row(s) / static_cast<T>(count);
    first += count;
  }
  return y;
}

template arma::Mat<float> spread_segments(const arma::Mat<float>&, arma::uword);
template arma::Mat<double> spread_segments(const arma::Mat<double>&, arma::uword);
template arma::Mat<float> segment_means(const arma::Mat<float>&, arma::uword);
template arma::Mat<double> segment_means(const arma::Mat<double>&, arma::uword);

}  // namespace croquis
