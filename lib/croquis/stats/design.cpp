#include <croquis/core/require.hpp>
#include <croquis/stats/design.hpp>
#include <croquis/stats/intervals.hpp>
#include <croquis/stats/search.hpp>
#include <optional>
#include <string_view>

namespace croquis {

std::uint64_t trials_to_show(double delta, double alpha, std::uint64_t failures) {
  constexpr std::string_view where = "trials_to_show";
  require(delta > 0 && delta < 1 && alpha > 0 && alpha < 1, where, "0 < delta < 1 and 0 < alpha < 1",
          {{"delta", delta}, {"alpha", alpha}});
  std::optional<std::uint64_t> n;
  if (failures < kMostTrials) {
    n = smallest_sufficient(failures + 1, kMostTrials, [&](std::uint64_t trials) {
      return clopper_pearson(failures, trials, alpha, Side::upper).hi <= delta;
    });
  }
  require(n.has_value(), where, "an effect that a practicable number of samples can show", {{"samples", kMostTrials}});
  return *n;
}

}  // namespace croquis
