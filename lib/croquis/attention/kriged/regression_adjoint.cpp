#include <croquis/attention/kriged/regression_adjoint.hpp>
#include <croquis/core/serial_blas.hpp>

namespace croquis {

template <typename T>
RegressionAdjoint regression_adjoint(const KrigedPlan<T>& plan, arma::uword n_k, const arma::Mat<T>& cotangent) {
  const SerialBlas serial;
  const arma::mat y = arma::conv_to<arma::mat>::from(plan.cell_weights), &inverse = plan.kriging.inverse;
  const arma::vec squares = arma::conv_to<arma::vec>::from(plan.cells.squares);
  arma::mat e = arma::conv_to<arma::mat>::from(cotangent);
  RegressionAdjoint of;
  of.squares = arma::sum(e % (y.t() * inverse), 1);
  e.each_col() %= squares;
  of.cell_weights = inverse * e.t();
  arma::mat gram = -inverse * (y * e) * inverse;  // of Y diag(squares) Y^T + ridge I

  const auto rows = static_cast<double>(y.n_rows), keys = static_cast<double>(n_k);
  const double mean = arma::dot(arma::sum(arma::square(y), 0), squares) / rows,
               uniform = arma::accu(squares) / (keys * keys);
  const double of_mean = arma::trace(gram) * plan.kriging.ridge / std::max(mean, uniform);
  if (mean >= uniform) {
    gram.diag() += of_mean / rows;
  } else {
    of.squares += of_mean / (keys * keys);
  }
  gram = gram + gram.t().eval();
  const arma::mat of_weighted = gram * y;
  of.squares += arma::sum(y % of_weighted, 0).t() / 2;
  of.cell_weights += of_weighted.each_row() % squares.t();
  return of;
}

template RegressionAdjoint regression_adjoint(const KrigedPlan<float>&, arma::uword, const arma::Mat<float>&);
template RegressionAdjoint regression_adjoint(const KrigedPlan<double>&, arma::uword, const arma::Mat<double>&);

}  // namespace croquis
