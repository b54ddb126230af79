#include <cmath>
#include <croquis/core/power_of_two.hpp>
#include <croquis/core/require.hpp>
#include <croquis/stats/accumulator.hpp>

namespace croquis {

// Makes the unit more than half of the deviation.
void Accumulator::raise_unit(double deviation) {
  if (std::abs(deviation) < 2 * unit_) return;
  const double larger = power_of_two_below(deviation), share = unit_ / larger;
  m2_ *= share * share;
  m3_ *= share * share * share;
  m4_ *= share * share * share * share;
  unit_ = larger;
}

void Accumulator::add(double x) {
  require(std::isfinite(x), "Accumulator::add", "a finite value", {{"x", x}});
  const auto before = static_cast<double>(count_++);
  if (count_ == 1) {
    mean_ = x;
    return;
  }
  const auto n = static_cast<double>(count_);
  const double deviation = x - mean_;
  raise_unit(deviation);
  const double delta = deviation / unit_, step = delta / n, square = delta * step * before;
  mean_ += deviation / n;
  m4_ += square * step * step * (n * n - 3 * n + 3) + 6 * step * step * m2_ - 4 * step * m3_;
  m3_ += square * step * (n - 2) - 3 * step * m2_;
  m2_ += square;
}

double Accumulator::mean() const {
  require(count_ >= 1, "Accumulator::mean", "at least one value");
  return mean_;
}

double Accumulator::scaled_variance() const {
  require(count_ >= 2, "Accumulator::variance", "at least two values", {{"count", count_}});
  return m2_ / static_cast<double>(count_ - 1);
}

double Accumulator::variance() const {
  return scaled_variance() * unit_ * unit_;
}

double Accumulator::standard_error() const {
  return std::sqrt(scaled_variance() / static_cast<double>(count_)) * unit_;
}

double Accumulator::kurtosis() const {
  require(count_ >= 2, "Accumulator::kurtosis", "at least two values", {{"count", count_}});
  return static_cast<double>(count_) * m4_ / m2_ / m2_;
}

}  // namespace croquis
