#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/kriging.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace croquis {
namespace {

// A smaller error than this part of another is no rounding. Of a single row, or of rows that have nothing in common,
// all ridges leave the same.
constexpr double kClearly = 1 - 1e-4;

}  // namespace

Kriging krige(const arma::mat& x, const arma::mat& y, const arma::vec& weights, double smallest) {
  const SerialBlas serial;
  const arma::mat gram = product_nt(x, x);
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
  const arma::mat rotated = product_tn(vectors, y), squares = arma::square(vectors);
  double centre = 0;
  // Tries all of them at the same time. The first of those that are equally good counts.
  const auto attempt = [&](const std::vector<double>& exponents) {
    std::vector<arma::mat> residuals(exponents.size());
    parallel_for(exponents.size(), 2 * rotated.n_elem * rotated.n_rows, [&](std::size_t e) {
      const arma::vec shrunk = 1 / (values + std::pow(10, exponents[e]) * mean);
      residuals[e] = vectors * (rotated.each_col() % shrunk);
      residuals[e].each_col() /= squares * shrunk;
    });
    for (std::size_t e = 0; e < exponents.size(); ++e) {
      const double error = error_of(residuals[e]);
      if (!(error < kClearly * least)) continue;
      least = error;
      centre = exponents[e];
      best.ridge = std::pow(10, centre) * mean;
      best.residuals = std::move(residuals[e]);
    }
  };
  attempt({-6, -4, -2, 0, 2});
  for (const double step : {1.0, 0.5}) attempt({centre - step, centre + step});
  if (std::isfinite(best.ridge)) {
    const arma::vec shrunk = 1 / (values + best.ridge);
    best.inverse = product_nt<double>(vectors.each_row() % shrunk.t(), vectors);
  }
  return best;
}

}  // namespace croquis
