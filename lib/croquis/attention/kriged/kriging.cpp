#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/kriging.hpp>
#include <croquis/core/serial_blas.hpp>
#include <limits>
#include <stdexcept>

namespace croquis {
namespace {

// A smaller error than this part of another is no rounding. Of a single row, or of rows that have nothing in common,
// all ridges leave the same.
constexpr double kClearly = 1 - 1e-4;

}  // namespace

Kriging krige(const arma::mat& x, const arma::mat& y, const arma::vec& weights, double smallest) {
  const SerialBlas serial;
  const arma::mat gram = x * x.t();
  Kriging best{.ridge = std::numeric_limits<double>::infinity(), .inverse = {}, .residuals = y};
  const auto error_of = [&](const arma::mat& residuals) {
    return arma::dot(weights, arma::sum(arma::square(residuals), 1));
  };
  double least = error_of(y);
  const double mean = std::max(smallest, arma::trace(gram) / static_cast<double>(gram.n_rows));
  if (!(mean > 0) || !(least > 0)) return best;
  arma::vec values;
  arma::mat vectors;
  if (!arma::eig_sym(values, vectors, gram)) throw std::runtime_error("krige: no eigenvalues of the weights' products");
  values = arma::clamp(values, 0, std::numeric_limits<double>::infinity());
  const arma::mat rotated = vectors.t() * y, squares = arma::square(vectors);
  const auto attempt = [&](double exponent) {
    const double ridge = std::pow(10, exponent) * mean;
    const arma::vec shrunk = 1 / (values + ridge);
    const arma::mat a = vectors * (rotated.each_col() % shrunk);
    const arma::mat residuals = a.each_col() / (squares * shrunk);
    const double error = error_of(residuals);
    if (!(error < kClearly * least)) return false;
    least = error;
    best.ridge = ridge;
    best.residuals = residuals;
    return true;
  };
  double centre = 0;
  for (const double exponent : {-6, -4, -2, 0, 2}) {
    if (attempt(exponent)) centre = exponent;
  }
  for (const double step : {1.0, 0.5}) {
    const double around = centre;
    for (const double sign : {-1, 1}) {
      if (attempt(around + sign * step)) centre = around + sign * step;
    }
  }
  if (std::isfinite(best.ridge)) {
    const arma::vec shrunk = 1 / (values + best.ridge);
    best.inverse = (vectors.each_row() % shrunk.t()) * vectors.t();
  }
  return best;
}

}  // namespace croquis
