#include <croquis/core/require.hpp>
#include <croquis/nystrom/segment_means.hpp>

namespace croquis {

template <typename T>
arma::Mat<T> segment_means(const arma::Mat<T>& x, arma::uword d) {
  require(d >= 1 && d <= x.n_rows, "segment_means", "1 <= d <= n", {{"d", d}, {"n", x.n_rows}});
  const arma::uword length = x.n_rows / d, longer = x.n_rows % d;
  arma::Mat<T> means(d, x.n_cols);
  for (arma::uword s = 0, first = 0; s < d; ++s) {
    const arma::uword count = length + (s < longer ? 1 : 0);
    means.row(s) = arma::mean(x.rows(first, first + count - 1), 0);
    first += count;
  }
  return means;
}

template arma::Mat<float> segment_means(const arma::Mat<float>&, arma::uword);
template arma::Mat<double> segment_means(const arma::Mat<double>&, arma::uword);

}  // namespace croquis
