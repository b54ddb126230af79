#include <algorithm>
#include <armadillo>
#include <boost/math/constants/constants.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/kolmogorov.hpp>
#include <vector>

namespace croquis {
namespace {

namespace bm = boost::math;
constexpr std::uint64_t kLargestExact = 2000;
constexpr double kTerms = 10000;
constexpr double kPi = bm::double_constants::pi;

// P(D_n^+ >= d) = d sum_j C(n, j) q^(j-1) (1 - q)^(n-j), q = d + j / n, over j <= n (1 - d). For large n every
// stride-th term alone: they are close to exp(-n d^2 / (2 x (1 - x))) at x = j / n, smooth and zero with all
// derivatives at both ends, which the trapezoidal rule sums to rounding.
double one_sided_tail(double n, double d) {
  const double stride = std::max(1.0, std::floor(n / kTerms));
  const auto last = static_cast<std::uint64_t>(n * (1 - d) / stride);
  double sum = 0;
  for (std::uint64_t i = 0; i <= last; ++i) {
    const double j = static_cast<double>(i) * stride, q = std::min(d + j / n, 1.0);
    sum += bm::pdf(bm::binomial(n, q), j) / q;
  }
  return std::min(d * stride * sum, 1.0);
}

// a 2^exponent, rescaled so that the entry that is wanted in the end stays in range.
struct ScaledMatrix {
  arma::mat a;
  int exponent = 0;

  void multiply(const arma::mat& b, int b_exponent) {
    a = a * b;
    exponent += b_exponent;
    const double middle = a(a.n_rows / 2, a.n_rows / 2);
    if (!(middle > 0) || (middle > 1e-120 && middle < 1e120)) return;
    const int excess = std::ilogb(middle);
    a *= std::ldexp(1.0, -excess);
    exponent += excess;
  }
};

// P(D_n < d) = n! / n^n (H^n)_kk, d = (k - h) / n, H of order 2 k - 1 as in Marsaglia, Tsang and Wang.
double marsaglia_tsang_wang(std::uint64_t n_draws, double d) {
  const auto n = static_cast<double>(n_draws);
  const auto k = static_cast<arma::uword>(n * d) + 1, order = 2 * k - 1;
  const double h = static_cast<double>(k) - n * d;
  std::vector<double> inverse_factorial(order + 1, 1.0);
  for (arma::uword i = 1; i <= order; ++i) inverse_factorial[i] = inverse_factorial[i - 1] / static_cast<double>(i);
  arma::mat step(order, order, arma::fill::zeros);
  for (arma::uword i = 0; i < order; ++i) {
    for (arma::uword j = 0; j <= std::min(i + 1, order - 1); ++j) step(i, j) = inverse_factorial[i + 1 - j];
  }
  for (arma::uword i = 0; i < order; ++i) {
    const double corner = std::pow(h, static_cast<double>(i + 1)) * inverse_factorial[i + 1];
    step(i, 0) -= corner;
    step(order - 1, order - 1 - i) -= corner;
  }
  if (h > 0.5) step(order - 1, 0) += std::pow(2 * h - 1, static_cast<double>(order)) * inverse_factorial[order];

  ScaledMatrix square{step}, power{arma::mat(order, order, arma::fill::eye)};
  for (std::uint64_t rest = n_draws; rest > 0; rest /= 2) {
    if (rest % 2 == 1) power.multiply(square.a, square.exponent);
    if (rest > 1) square.multiply(arma::mat(square.a), square.exponent);
  }
  double probability = power.a(k - 1, k - 1);
  int exponent = power.exponent;
  for (std::uint64_t i = 1; i <= n_draws; ++i) {
    int shift = 0;
    probability = std::frexp(probability * static_cast<double>(i) / n, &shift);
    exponent += shift;
  }
  return std::ldexp(probability, exponent);
}

// K_0(z) + K_1(z) / n^(1/2) + K_2(z) / n + K_3(z) / n^(3/2) = P(D_n < z / sqrt(n)) + O(n^-2).
double pelz_good(double n, double d) {
  const double root_n = std::sqrt(n), z = root_n * d, z2 = z * z, z4 = z2 * z2, z6 = z4 * z2, z8 = z4 * z4;
  const double decay = kPi * kPi / (2 * z2);
  double k0 = 0, k1 = 0, k2 = 0, k3 = 0, k2_whole = 0, k3_whole = 0;
  for (int k = 0; k < 40; ++k) {
    const double u = kPi * kPi * (k + 0.5) * (k + 0.5), weight = 2 * std::exp(-decay * (k + 0.5) * (k + 0.5));
    k0 += weight;
    k1 += weight * (u - z2);
    k2 += weight * (6 * z6 + 2 * z4 + u * (2 * z4 - 5 * z2) + u * u * (1 - 2 * z2));
    k3 += weight *
          (u * u * u * (5 - 30 * z2) + u * u * (-60 * z2 + 212 * z4) + u * (135 * z4 - 96 * z6) - 30 * z6 - 90 * z8);
    const double v = kPi * kPi * k * k, whole = 2 * std::exp(-decay * k * k);
    k2_whole += whole * v;
    k3_whole += whole * (3 * v * z2 - v * v);
  }
  const double c = std::sqrt(kPi / 2);
  return c / z * k0 + c / (6 * z4) * k1 / root_n + (c / (72 * z6 * z) * k2 - c / (36 * z2 * z) * k2_whole) / n +
         (c / (6480 * z8 * z2) * k3 + c / (216 * z6) * k3_whole) / (n * root_n);
}

}  // namespace

double dkwm_bound(std::uint64_t n, double d) {
  require(n >= 1 && !std::isnan(d), "dkwm_bound", "n >= 1 and a number d", {{"n", n}, {"d", d}});
  return d <= 0 ? 1.0 : std::min(1.0, 2 * std::exp(-2 * static_cast<double>(n) * d * d));
}

double kolmogorov_tail(std::uint64_t n, double d) {
  require(n >= 1 && !std::isnan(d), "kolmogorov_tail", "n >= 1 and a number d", {{"n", n}, {"d", d}});
  const auto size = static_cast<double>(n);
  if (2 * size * d <= 1) return 1;
  if (d >= 1) return 0;
  if (d >= 0.5 || dkwm_bound(n, d) < 1e-4) return std::min(1.0, 2 * one_sided_tail(size, d));
  const double below = n <= kLargestExact ? marsaglia_tsang_wang(n, d) : pelz_good(size, d);
  return std::clamp(1 - below, 0.0, 1.0);
}

double two_sample_kolmogorov_tail(std::uint64_t m, std::uint64_t n, std::uint64_t distance) {
  constexpr std::string_view where = "two_sample_kolmogorov_tail";
  require(m >= 1 && n >= 1, where, "two samples that are not empty", {{"m", m}, {"n", n}});
  if (distance == 0) return 1;
  const auto m_size = static_cast<double>(m), n_size = static_cast<double>(n);
  if (m_size * n_size > 1e8) {
    const double x = static_cast<double>(distance) / std::sqrt(m_size * n_size * (m_size + n_size));
    if (x < 0.2) return 1;  // 1 - P < 1e-12
    double tail = 0;
    for (int k = 20; k >= 1; --k) tail += (k % 2 == 1 ? 2 : -2) * std::exp(-2 * k * k * x * x);
    return std::clamp(tail, 0.0, 1.0);
  }
  // reached[j]: the probability that a uniformly random path from (0, 0) to (i, j) has been at a point with
  // |i n - j m| >= distance. Its last step came from (i - 1, j) with probability i / (i + j).
  std::vector<double> reached(n + 1, 0.0);
  for (std::uint64_t i = 0; i <= m; ++i) {
    for (std::uint64_t j = 0; j <= n; ++j) {
      const std::uint64_t a = i * n, b = j * m, gap = a > b ? a - b : b - a;
      if (gap >= distance) {
        reached[j] = 1;
      } else if (i + j > 0) {
        const double left = j > 0 ? reached[j - 1] * static_cast<double>(j) : 0.0;
        reached[j] = (reached[j] * static_cast<double>(i) + left) / static_cast<double>(i + j);
      }
    }
  }
  return reached[n];
}

}  // namespace croquis
