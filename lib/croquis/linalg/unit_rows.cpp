#include <croquis/linalg/unit_rows.hpp>

namespace croquis {

template <typename T>
arma::Mat<T> unit_rows(arma::Mat<T> x) {
  arma::Col<T> size = arma::max(arma::abs(x), 1);
  size.replace(T(0), T(1));
  x.each_col() /= size;
  arma::Col<T> norm = arma::sqrt(arma::sum(arma::square(x), 1));
  norm.replace(T(0), T(1));
  x.each_col() /= norm;
  return x;
}

template arma::Mat<float> unit_rows(arma::Mat<float>);
template arma::Mat<double> unit_rows(arma::Mat<double>);

}  // namespace croquis
