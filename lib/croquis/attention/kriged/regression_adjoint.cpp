#include <algorithm>
#include <croquis/attention/kriged/regression_adjoint.hpp>
#include <croquis/core/serial_blas.hpp>
#include <stdexcept>

namespace croquis {

template <typename T>
RegressionAdjoint regression_adjoint(const KrigedPlan<T>& plan, arma::uword n_k, const arma::Mat<T>& cotangent) {
  const SerialBlas serial;
  const arma::mat y = arma::conv_to<arma::mat>::from(plan.cell_weights);
  const arma::vec squares = arma::conv_to<arma::vec>::from(plan.cells.squares), roots = arma::sqrt(squares);
  const arma::mat x = y.each_row() % roots.t();
  arma::mat f = arma::conv_to<arma::mat>::from(cotangent), padded = x, left, right;
  f.each_col() %= roots;
  padded.resize(x.n_rows, std::max(x.n_rows, x.n_cols));  // so that there are N vectors on the left
  arma::vec values;
  if (!arma::svd_econ(left, values, right, padded)) {
    throw std::runtime_error("regression_adjoint: no singular values of the cells' weights");
  }
  right = right.head_rows(x.n_cols).eval();
  const double ridge = plan.kriging.ridge;
  const arma::vec shrunk = 1 / (arma::square(values) + ridge), crossed = values % shrunk;
  const arma::mat z = left.t() * arma::conv_to<arma::mat>::from(plan.residual), g = right.t() * f;
  const arma::mat solved = left * (z.each_col() % shrunk), spread = right * (z.each_col() % crossed),
                  rest = f - right * (g.each_col() % (values % crossed));
  RegressionAdjoint of;
  of.residual = left * (g.each_col() % crossed);
  arma::mat of_x = solved * rest.t() - of.residual * spread.t();
  of.squares = arma::sum(rest % spread, 1) / squares;

  const auto rows = static_cast<double>(y.n_rows), keys = static_cast<double>(n_k);
  const double mean = arma::accu(arma::square(x)) / rows, uniform = arma::accu(squares) / (keys * keys);
  const double of_mean = -arma::dot(solved, of.residual) * ridge / std::max(mean, uniform);
  if (mean >= uniform) {
    of_x += 2 * of_mean / rows * x;
    of.squares += of_mean / rows * arma::sum(arma::square(y), 0).t();
  } else {
    of.squares += of_mean / (keys * keys);
  }
  of.squares.elem(arma::find(squares == 0)).zeros();
  of.cell_weights = of_x.each_row() % roots.t();
  return of;
}

template RegressionAdjoint regression_adjoint(const KrigedPlan<float>&, arma::uword, const arma::Mat<float>&);
template RegressionAdjoint regression_adjoint(const KrigedPlan<double>&, arma::uword, const arma::Mat<double>&);

}  // namespace croquis
