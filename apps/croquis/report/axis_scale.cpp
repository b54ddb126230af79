#include "report/axis_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace {

constexpr std::size_t kMostTics = 8;
constexpr double kFinest = 1e-9;  // steps that are lost in its numbers would never end

}  // namespace

AxisScale::AxisScale(const std::vector<double>& numbers, bool logarithmic) : logarithmic_(logarithmic) {
  std::set<double> finite;
  for (const double x : numbers) {
    if (std::abs(x) <= kLargest) finite.insert(x);
  }
  logarithmic_ = logarithmic && !finite.empty() && *finite.rbegin() >= kSmallest;
  if (logarithmic_) finite.erase(finite.begin(), finite.lower_bound(kSmallest));
  if (finite.empty()) return;
  const auto is_whole = [](double x) { return x == std::floor(x) && x < 1e6; };
  if (finite.size() <= kMostTics && std::all_of(finite.begin(), finite.end(), is_whole)) {
    few_.assign(finite.begin(), finite.end());
  }
  low_ = *finite.begin();
  high_ = *finite.rbegin();
  if (logarithmic_) {
    constexpr double alone = 1.5;  // what one number has around it
    const double margin = high_ > low_ ? std::max(std::pow(high_ / low_, 0.04), 1 + kFinest) : std::pow(alone, 0.04);
    low_ /= margin;
    high_ *= margin;
  } else {
    const double size = std::max(std::abs(low_), std::abs(high_));
    const double margin = high_ > low_ ? std::max(0.04 * (high_ - low_), kFinest * size) : std::max(size, 1.0) * 0.04;
    if (low_ > 0 && low_ < 0.5 * high_) low_ = 0;
    low_ -= low_ == 0 ? 0 : margin;
    high_ += margin;
  }
}

bool AxisScale::shows(double x) const {
  return std::abs(x) <= kLargest && (!logarithmic_ || x >= kSmallest);
}

double AxisScale::place(double x) const {
  return logarithmic_ ? std::log(x / low_) / std::log(high_ / low_) : (x - low_) / (high_ - low_);
}

std::vector<double> AxisScale::log_tics() const {
  const int first = static_cast<int>(std::floor(std::log10(low_))),
            last = static_cast<int>(std::ceil(std::log10(high_)));
  const int step = std::max(1, (last - first + 6) / 7);
  const bool fine = last - first <= 3;
  std::vector<double> tics;
  for (int e = first; e <= last; e += step) {
    for (const double digit : fine ? std::vector<double>{1, 2, 5} : std::vector<double>{1}) {
      const double x = digit * std::pow(10.0, e);
      if (x >= low_ && x <= high_) tics.push_back(x);
    }
  }
  return tics;
}

std::vector<std::pair<double, std::string>> AxisScale::tics() const {
  std::vector<double> places = few_;
  if (places.empty() && logarithmic_) places = log_tics();
  if (places.size() < 2 && few_.empty()) {  // linear, or less than what 1, 2 and 5 tell apart
    const double rough = (high_ - low_) / 5, power = std::pow(10.0, std::floor(std::log10(rough)));
    const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
    places.clear();
    for (double k = std::ceil(low_ / step); k * step <= high_; ++k) places.push_back(k * step);
  }
  std::vector<std::pair<double, std::string>> tics;
  for (const double x : places) {
    // Labels of neighbours do not run into each other.
    const bool room = tics.empty() || !few_.size() || std::abs(place(x) - place(tics.back().first)) > 0.045;
    if (room) tics.emplace_back(x, tic_label(x));
  }
  return tics;
}

std::string tic_label(double x) {
  if (x == 0) return "0";
  if (std::abs(x) >= 1e-3 && std::abs(x) < 1e5) return fmt::format("{:.6g}", x);
  const int e = static_cast<int>(std::floor(std::log10(std::abs(x)) + 1e-9));
  return fmt::format("{:.4g}e{}", x / std::pow(10.0, e), e);
}
