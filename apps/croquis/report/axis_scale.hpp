// The scale of an axis: which numbers it shows, where they stand, and its tics.
#pragma once

#include <string>
#include <utility>
#include <vector>

class AxisScale {
 public:
  static constexpr double kLargest = 1e150, kSmallest = 1e-150;

  /// Shows all these numbers with a margin, and no others. Logarithmic only where it can be: of finite numbers, where
  /// one is positive; those that are not positive are then not shown. Never shown is what is not finite or larger than
  /// kLargest, and of a logarithmic axis below kSmallest: their quotients and differences must be numbers too.
  AxisScale(const std::vector<double>& numbers, bool logarithmic);

  bool is_logarithmic() const { return logarithmic_; }
  bool shows(double x) const;
  /// 0 at the lower end, 1 at the upper one.
  double place(double x) const;
  /// Numbers in the range, at most about 8 of them, and their labels: 1, 2 and 5 times powers of ten; where there are
  /// few numbers that are whole, as of d, those.
  std::vector<std::pair<double, std::string>> tics() const;

 private:
  std::vector<double> log_tics() const;

  bool logarithmic_;
  double low_ = 0, high_ = 1;
  std::vector<double> few_;  // whole numbers, as tics
};

/// "0.001", "1e-5", "4096", "1e6".
std::string tic_label(double x);
