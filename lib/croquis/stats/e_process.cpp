#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/stats/e_process.hpp>
#include <croquis/stats/search.hpp>
#include <utility>

namespace croquis {
namespace {

constexpr double kWeightOfZero = 0.3;
constexpr std::uint64_t kMostLosses = std::uint64_t{1} << 52;    // a double counts so far
constexpr std::uint64_t kMostRepeated = std::uint64_t{1} << 40;  // so often the rounding of a step is no evidence

double log_sum(const std::vector<double>& logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  if (!std::isfinite(most)) return most;
  double sum = 0;
  for (const double x : logs) sum += std::exp(x - most);
  return most + std::log(sum);
}

void require_probability(double alpha, const char* where) {
  require(alpha > 0 && alpha < 1, where, "0 < alpha < 1", {{"alpha", alpha}});
}

// The means r and the logarithms of their weights.
struct Mixture {
  std::vector<double> means, logs;
};

Mixture mixture_of(NullHypothesis null, double delta) {
  const bool below = null == NullHypothesis::mean_at_least;
  Mixture mixture;
  if (below) mixture = {{0}, {std::log(kWeightOfZero)}};
  const double weight = (below ? 1 - kWeightOfZero : 1.0) / MeanBet::kPoints;
  for (int i = 0; i < MeanBet::kPoints; ++i) {
    const double part = (i + 0.5) / MeanBet::kPoints;
    mixture.means.push_back(below ? delta * part : delta + (1 - delta) * part);
    mixture.logs.push_back(std::log(weight));
  }
  return mixture;
}

double log_largest_of(const std::vector<double>& losses, double delta) {
  MeanBet bet(NullHypothesis::mean_at_least, delta);
  for (const double loss : losses) bet.add(loss);
  return bet.log_largest();
}

}  // namespace

MeanBet::MeanBet(NullHypothesis null, double delta) : delta_(delta) {
  require(delta > 0 && delta < 1 && std::isfinite(1 / delta), "MeanBet", "0 < delta < 1, and 1 / delta finite",
          {{"delta", delta}});
  Mixture mixture = mixture_of(null, delta);
  means_ = std::move(mixture.means);
  logs_ = initial_ = std::move(mixture.logs);
}

void MeanBet::add(double loss) {
  require(loss >= 0 && loss <= 1, "MeanBet", "losses in [0, 1]", {{"loss", loss}});
  for (std::size_t i = 0; i < means_.size(); ++i) {
    const double r = means_[i];
    logs_[i] += std::log((1 - r) / (1 - delta_) * (1 - loss) + r / delta_ * loss);
  }
  log_wealth_ = log_sum(logs_);
  log_largest_ = std::max(log_largest_, log_wealth_);
  sum_ += loss;
  ++count_;
}

std::optional<std::uint64_t> MeanBet::losses_until(double log_wealth) const {
  if (log_wealth_ >= log_wealth) return 0;
  std::vector<double> steps;  // of the logarithms, a loss
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    steps.push_back(count_ == 0 ? std::log1p(-means_[i]) - std::log1p(-delta_)
                                : (logs_[i] - initial_[i]) / static_cast<double>(count_));
  }
  const auto reaches = [&](std::uint64_t count) {
    std::vector<double> logs = logs_;
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += static_cast<double>(count) * steps[i];
    return log_sum(logs) >= log_wealth;
  };
  const std::uint64_t most = count_ == 0 ? kMostLosses : kMostRepeated;
  return smallest_sufficient(1, most, reaches);
}

double mean_upper_limit(const std::vector<double>& losses, double alpha) {
  require_probability(alpha, "mean_upper_limit");
  constexpr double width = 1e-6;
  const double needed = -std::log(alpha);
  double lo = 0, hi = 1;
  while (hi - lo > width) {
    const double middle = (lo + hi) / 2;
    (log_largest_of(losses, middle) >= needed ? hi : lo) = middle;
  }
  return hi;
}

std::uint64_t losses_to_show(double delta, double alpha) {
  require_probability(alpha, "losses_to_show");
  return MeanBet(NullHypothesis::mean_at_least, delta).losses_until(-std::log(alpha)).value_or(kMostLosses);
}

}  // namespace croquis
