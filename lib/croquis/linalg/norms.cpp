#include <algorithm>
#include <cmath>
#include <croquis/core/power_of_two.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/bidiagonalisation.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/draws.hpp>
#include <limits>
#include <numeric>

namespace croquis {
namespace {

// The largest eigenvalue error that Kuczynski and Wozniakowski allow after k steps from a random start in R^n.
double relative_gap(double n, int k, double failure) {
  const double root = std::log(1.648 * std::sqrt(n) / failure) / (2.0 * k - 1.0);
  return root > 0 ? root * root : 0.0;
}

// In double, where squares of floats neither overflow nor underflow. A sum in float stops to grow at 2^24 times what it
// adds. Eight sums, which the compiler puts into vectors.
double sum_of_squares(const arma::fmat& a) {
  constexpr arma::uword kSums = 8;
  double sums[kSums] = {};
  const float* const entries = a.memptr();
  const arma::uword whole = a.n_elem - a.n_elem % kSums;
  for (arma::uword i = 0; i < whole; i += kSums) {
    for (arma::uword s = 0; s < kSums; ++s) sums[s] += static_cast<double>(entries[i + s]) * entries[i + s];
  }
  for (arma::uword i = whole; i < a.n_elem; ++i) sums[i % kSums] += static_cast<double>(entries[i]) * entries[i];
  return std::accumulate(sums, sums + kSums, 0.0);
}

}  // namespace

template <typename T>
T largest_entry(const arma::Mat<T>& a) {
  return largest_size(a.memptr(), a.n_elem);
}

template <typename T>
T spectral_norm(const arma::Mat<T>& a) {
  const SerialBlas serial;
  const T scale = largest_entry(a);
  if (scale == 0 || !std::isfinite(scale)) return scale;
  // Squares that underflow are below u times the largest.
  const T square = scale * scale;
  const bool extreme = !std::isfinite(static_cast<T>(a.n_elem) * square) ||
                       square * std::numeric_limits<T>::epsilon() < std::numeric_limits<T>::min();
  const arma::Mat<T> moderate = extreme ? arma::Mat<T>(a / scale) : arma::Mat<T>();
  const arma::Mat<T>& b = extreme ? moderate : a;
  const arma::Mat<T> gram = b.n_rows < b.n_cols ? arma::Mat<T>(b * b.t()) : arma::Mat<T>(b.t() * b);
  arma::Col<T> eigenvalues;
  if (!arma::eig_sym(eigenvalues, gram)) throw std::runtime_error("spectral_norm: the eigenvalue solver failed");
  return (extreme ? scale : T(1)) * std::sqrt(std::max(eigenvalues.max(), T(0)));
}

double spectral_norm_flops(double m, double n) {
  const double k = std::min(m, n);
  return m * n * k + 4 * k * k * k / 3;
}

template <>
float frobenius_norm(const arma::fmat& a) {
  return static_cast<float>(std::sqrt(sum_of_squares(a)));
}

template <>
double frobenius_norm(const arma::mat& a) {
  // Squares that underflow add less than u to a sum as large as this.
  const double least =
      static_cast<double>(a.n_elem) * std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  const double squares = arma::accu(arma::square(a));
  if ((squares > least && std::isfinite(squares)) || std::isnan(squares)) return std::sqrt(squares);
  const double scale = largest_entry(a);
  if (scale == 0 || !std::isfinite(scale)) return scale;
  return scale * std::sqrt(arma::accu(arma::square(a / scale)));
}

template <typename T>
arma::Mat<T> over_power_of_two(arma::Mat<T> a) {
  const T unit = power_of_two_below(largest_entry(a));
  // Both are exact, and a division takes several times as long. The reciprocal of a subnormal number is infinite.
  if (unit >= std::numeric_limits<T>::min()) {
    a *= 1 / unit;
  } else {
    a /= unit;
  }
  return a;
}

template <typename T>
NormEstimate spectral_norm(const LinearOperator<T>& a, const Key& key, const LanczosOptions& options) {
  const SerialBlas serial;
  require(options.max_steps >= 1 && options.tolerance > 0 && options.failure > 0 && options.failure < 1,
          "spectral_norm", "max_steps >= 1, tolerance > 0, 0 < failure < 1",
          {{"max_steps", options.max_steps}, {"tolerance", options.tolerance}, {"failure", options.failure}});
  NormEstimate estimate;
  if (a.rows == 0 || a.cols == 0) return estimate;

  // For a wide matrix the space is exhausted one step after the left vectors have filled R^m.
  const int limit =
      static_cast<int>(std::min<arma::uword>({a.rows + 1, a.cols, static_cast<arma::uword>(options.max_steps)}));
  arma::Col<T> start(a.cols);
  fill_normal(key, 0, a.cols, start.memptr());
  Bidiagonalisation<T> space(a.rows, start, static_cast<arma::uword>(limit));

  // Where the random start has next to nothing of the first singular vector, a Ritz value settles at the second
  // singular value. In few dimensions that is not rare enough, and the whole space costs little.
  constexpr arma::uword few = 16;
  const bool whole = std::min(a.rows, a.cols) <= few && limit >= static_cast<int>(std::min(a.rows + 1, a.cols));
  const double unit = std::numeric_limits<T>::epsilon();
  while (!space.full()) {
    space.set_left(a.apply(space.right()));
    space.set_right(a.apply_transposed(space.left()));
    arma::mat ritz_left, ritz_right;
    arma::vec ritz;
    if (!arma::svd(ritz_left, ritz, ritz_right, space.bidiagonal())) {
      throw std::runtime_error("spectral_norm: the singular value solver failed");
    }
    estimate.steps = static_cast<int>(space.steps());
    estimate.value = ritz(0);
    estimate.residual = space.last() * std::abs(ritz_left(space.steps() - 1, 0));
    const bool exhausted = space.last() <= 10 * unit * estimate.value || space.steps() == a.cols;
    estimate.converged = exhausted || estimate.residual <= options.tolerance * estimate.value;
    const bool enough = whole ? exhausted : estimate.converged;
    const double gap = exhausted ? 0.0 : relative_gap(static_cast<double>(a.cols), estimate.steps, options.failure);
    estimate.upper = gap < 1 ? estimate.value / std::sqrt(1 - gap) : std::numeric_limits<double>::infinity();
    if (enough) break;
  }
  const double rounding = 10 * unit * estimate.steps;
  estimate.lower = estimate.value * (1 - rounding);
  estimate.upper *= 1 + rounding;
  return estimate;
}

template float largest_entry(const arma::Mat<float>&);
template double largest_entry(const arma::Mat<double>&);
template arma::fmat over_power_of_two(arma::fmat);
template arma::mat over_power_of_two(arma::mat);
template float spectral_norm(const arma::Mat<float>&);
template double spectral_norm(const arma::Mat<double>&);
template NormEstimate spectral_norm(const LinearOperator<float>&, const Key&, const LanczosOptions&);
template NormEstimate spectral_norm(const LinearOperator<double>&, const Key&, const LanczosOptions&);

}  // namespace croquis
