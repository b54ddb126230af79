// Inputs on which Linformer's bounds are least generous, by the known distributions of random projections.
#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <croquis/claims/papers.hpp>
#include <croquis/stats/search.hpp>

namespace croquis::claims {
namespace {

// P has the singular value 1 with w as its vector, and m others sqrt(c): for chi = ||R w||^2 / ||w||^2, chi^2_k / k,
// the squared error of P R^T R w is (chi - 1)^2 + c chi G / k with an independent G, chi^2_m. The probability that it
// is above eps^2 (1 + m c), by the trapezoidal rule over chi.
double projection_failure(double k, double c, double m, double epsilon) {
  const double allowed = epsilon * epsilon * (1 + m * c);
  if (c == 0) {
    return boost::math::gamma_q(k / 2, k * (1 + epsilon) / 2) + boost::math::gamma_p(k / 2, k * (1 - epsilon) / 2);
  }
  constexpr int nodes = 300;
  const double end = 1 + 12 * std::sqrt(2 / k) + 80 / k, step = end / nodes;
  double sum = 0;
  for (int i = 1; i <= nodes; ++i) {
    const double chi = i * step, rest = allowed - (chi - 1) * (chi - 1);
    const double density = boost::math::gamma_p_derivative(k / 2, k * chi / 2) * k / 2;
    sum += density * (rest <= 0 ? 1 : boost::math::gamma_q(m / 2, rest * k / (2 * c * chi)));
  }
  return sum * step;
}

// x_1 sets c, x_2 m: the rows of R that are needed over 2 / (eps^2 delta).
double projection_share(const arma::mat& x, const Check& check) {
  const double epsilon = check.value("epsilon"), delta = check.value("delta"), asked = 2 / (epsilon * epsilon * delta),
               most = check.value("largest rank"), m = std::max(1.0, std::round(std::pow(most, std::abs(x(1)))));
  const double c = std::abs(x(0)) < 1e-3 ? 0 : x(0) * x(0);
  const auto enough = static_cast<std::uint64_t>(std::ceil(asked));
  const std::uint64_t needed = bisect(0, 4 * enough, [&](std::uint64_t k) {
    return projection_failure(static_cast<double>(k), c, m, epsilon) <= delta;
  });
  return static_cast<double>(needed) / asked;
}

double lemma_exponent(double epsilon, double k) {
  return (epsilon * epsilon - epsilon * epsilon * epsilon) * k / 4;
}

struct Size {
  double k, epsilon;
};

// x_1 sets k, x_2 epsilon. Beyond k eps^2 = 600 the failure is below what double has.
Size size_of(const arma::mat& x, const Check& check) {
  const double k = std::round(std::pow(check.value("largest k"), std::min(1.0, std::abs(x(0))))),
               epsilon = 0.98 * std::pow(10.0, -5 * std::abs(x(1)));
  return {k, epsilon};
}

// The exponent of the lemma over the exact one, of the length of R x.
double norm_share(const arma::mat& x, const Check& check) {
  const auto [k, epsilon] = size_of(x, check);
  if (k * epsilon * epsilon > 600) return 0;
  return lemma_exponent(epsilon, k) / -std::log(boost::math::gamma_q(k / 2, k * (1 + epsilon) * (1 + epsilon) / 2));
}

// The same of products, at x = y, both tails.
double product_share(const arma::mat& x, const Check& check) {
  const auto [k, epsilon] = size_of(x, check);
  if (k * epsilon * epsilon > 2400) return 0;
  const double failure =
      boost::math::gamma_q(k / 2, k * (1 + epsilon) / 2) + boost::math::gamma_p(k / 2, k * (1 - epsilon) / 2);
  return lemma_exponent(epsilon, k) / -std::log(failure / 2);
}

// Two kinds of keys: a share f with weight r and value 1, the others with weight 1 and value v, n -> infinity. k
// uniform ones have Bin(k, f) of the first kind. The largest k of a sequence that fails, over 32 mu^2 / (eps^2 delta).
double sampled_keys_share(const arma::mat& x, const Check& check) {
  const double epsilon = check.value("epsilon"), delta = check.value("delta");
  const double f = 0.5 * std::pow(10.0, -2 * std::abs(x(0))), r = std::pow(10.0, 4 * std::clamp(x(1), -1.0, 1.0)),
               v = std::clamp(x(2), -1.0, 1.0);
  const double sum = f * r + 1 - f, output = (f * r + (1 - f) * v) / sum, square = f + (1 - f) * v * v;
  const double allowed = epsilon * std::sqrt((f * r * r + 1 - f) * square) / sum;
  const double asked = 32 / square / (epsilon * epsilon * delta);  // mu^2 = 1 / mean of V^2
  for (double keys = std::ceil(asked); keys >= 1; keys = std::min(keys - 1, std::floor(0.97 * keys))) {
    const boost::math::binomial_distribution<> law(keys, f);
    const auto off = [&](double first) {  // grows with the number of the first kind
      return (first * r + (keys - first) * v) / (first * r + keys - first) - output;
    };
    // Too low up to `low`, too high from `high`.
    double low = -1, high = keys + 1;
    for (double at = keys + 1; at - low > 1;) {
      const double middle = std::floor((low + at) / 2);
      (off(middle) < -allowed ? low : at) = middle;
    }
    for (double at = -1; high - at > 1;) {
      const double middle = std::floor((high + at) / 2);
      (off(middle) > allowed ? high : at) = middle;
    }
    const double failure = (low >= 0 ? boost::math::cdf(law, low) : 0) +
                           (high <= keys ? high < 1 ? 1 : boost::math::cdf(boost::math::complement(law, high - 1)) : 0);
    if (failure > delta) return (keys + 1) / asked;
  }
  return 0;
}

}  // namespace

std::vector<SearchedBound> linformer_bounds() {
  return {{.name = "lin.thm1",
           .claim = "lin.thm1/corrected",
           .space = {1, 2, 1},
           .starts = {{{0, 0}}, {{1, 0}}, {{0.3, 0.9}}},
           .share = projection_share},
          {.name = "lin.jl-norm",
           .claim = "lin.jl-norm/strict",
           .space = {1, 2, 1.4},
           .starts = {{{1, 0.6}}},
           .share = norm_share},
          {.name = "lin.jl-product",
           .claim = "lin.jl-product/corrected",
           .space = {1, 2, 1.4},
           .starts = {{{1, 0.6}}},
           .share = product_share},
          {.name = "lin.thm2",
           .claim = "lin.thm2/charitable",
           .space = {1, 3, 1.7},
           .starts = {{{0, 0, -1}}, {{0, 0.3, -1}}},
           .share = sampled_keys_share}};
}

}  // namespace croquis::claims
