#include <algorithm>
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
    mean_ = min_ = max_ = x;
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
  min_ = std::min(min_, x);
  max_ = std::max(max_, x);
}

void Accumulator::merge(const Accumulator& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  const auto n_a = static_cast<double>(count_), n_b = static_cast<double>(other.count_), n = n_a + n_b;
  const double deviation = other.mean_ - mean_;
  raise_unit(deviation);
  raise_unit(other.unit_);
  Accumulator part = other;
  part.raise_unit(unit_);  // both in the same unit now
  const double a = n_a / n, b = n_b / n, delta = deviation / unit_, square = delta * delta * n_a * b;
  m4_ += part.m4_ + square * delta * delta * (a * a - a * b + b * b) +
         6 * delta * delta * (a * a * part.m2_ + b * b * m2_) + 4 * delta * (a * part.m3_ - b * m3_);
  m3_ += part.m3_ + square * delta * (a - b) + 3 * delta * (a * part.m2_ - b * m2_);
  m2_ += part.m2_ + square;
  mean_ += deviation * b;
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Accumulator::mean() const {
  require(count_ >= 1, "Accumulator::mean", "at least one value");
  return mean_;
}

double Accumulator::min() const {
  require(count_ >= 1, "Accumulator::min", "at least one value");
  return min_;
}

double Accumulator::max() const {
  require(count_ >= 1, "Accumulator::max", "at least one value");
  return max_;
}

double Accumulator::scaled_variance() const {
  require(count_ >= 2, "Accumulator::variance", "at least two values", {{"count", count_}});
  return m2_ / static_cast<double>(count_ - 1);
}

double Accumulator::variance() const {
  return scaled_variance() * unit_ * unit_;
}

double Accumulator::standard_deviation() const {
  return std::sqrt(scaled_variance()) * unit_;
}

double Accumulator::standard_error() const {
  return std::sqrt(scaled_variance() / static_cast<double>(count_)) * unit_;
}

double Accumulator::kurtosis() const {
  require(count_ >= 2, "Accumulator::kurtosis", "at least two values", {{"count", count_}});
  return static_cast<double>(count_) * m4_ / m2_ / m2_;
}

}  // namespace croquis
