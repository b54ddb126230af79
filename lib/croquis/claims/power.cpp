#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <croquis/claims/claim.hpp>
#include <croquis/claims/power.hpp>

namespace croquis::claims {
namespace {

constexpr double kMissed = 0.05;

}  // namespace

double power_of_majority(std::uint64_t trials) {
  const auto n = static_cast<double>(trials), more = std::floor(n / 2) + 1;
  // P(Bin(N, p) >= more) = I_p(more, N - more + 1).
  return boost::math::ibeta_inv(more, n - more + 1, 1 - kMissed);
}

double relative_error_of_mean(const Accumulator& sample) {
  return sample.count() < 2 ? Finding::kNone : sample.standard_error() / std::abs(sample.mean());
}

double power_of_means(double relative_error) {
  constexpr double quantile = 1.6449;  // of the normal distribution, at 0.95
  return quantile * relative_error;
}

double power_of_distance(std::uint64_t trials, double allowed) {
  return allowed + std::sqrt(std::log(1 / kMissed) / (2 * static_cast<double>(trials)));
}

}  // namespace croquis::claims
