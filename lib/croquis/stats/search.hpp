// Searches for the smallest number that suffices.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace croquis {

/// A number x in (fails, holds] such that holds_at(x) is true or x = holds, and holds_at(x - 1) is false or x - 1 =
/// fails. If holds_at changes from false to true once, this is the smallest number that holds. The two end points are
/// not evaluated. Requires fails < holds.
/// Cost: ceil(log2(holds - fails)) evaluations.
template <typename Predicate>
std::uint64_t bisect(std::uint64_t fails, std::uint64_t holds, const Predicate& holds_at) {
  while (holds - fails > 1) {
    const std::uint64_t middle = fails + (holds - fails) / 2;
    (holds_at(middle) ? holds : fails) = middle;
  }
  return holds;
}

/// The smallest x in first ... last for which holds_at(x) is true, by doubling from `first` and then bisection. Empty
/// if holds_at(last) is false. If holds_at changes from false to true more than once, the result is one of these
/// changes. Requires 1 <= first <= last.
/// Cost: about 2 log2(x / first) evaluations, none of them above 2 x.
template <typename Predicate>
std::optional<std::uint64_t> smallest_sufficient(std::uint64_t first, std::uint64_t last, const Predicate& holds_at) {
  std::uint64_t fails = first - 1, x = first;
  while (!holds_at(x)) {
    if (x == last) return std::nullopt;
    fails = x;
    x = x > last / 2 ? last : 2 * x;
  }
  return bisect(fails, x, holds_at);
}

/// The same for real numbers in [lo, hi], lo > 0 and not subnormal, to a relative `tolerance`, by bisection on the
/// logarithm. The tolerance must be well above 2^-52: 1e-12 will do. The result is hi, which is not evaluated, if
/// nothing below it holds.
template <typename Predicate>
double smallest_sufficient(double lo, double hi, double tolerance, const Predicate& holds_at) {
  if (holds_at(lo)) return lo;
  while (hi / lo > 1 + tolerance) {
    const double middle = std::sqrt(lo) * std::sqrt(hi);
    (holds_at(middle) ? hi : lo) = middle;
  }
  return hi;
}

}  // namespace croquis
