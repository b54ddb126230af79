#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/nearest.hpp>
#include <limits>

namespace croquis {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between beginnings of a and of b: the last but one, the last, and the present one.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(now);
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
  }
  return now[b.size()];
}

std::string nearest(std::string_view text, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 100, share = 3, beginning = 3;
  if (text.empty() || text.size() > longest) return "";
  std::string found;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string& name : names) {
    const bool begun = text.size() >= beginning && name.starts_with(text);
    const std::size_t distance = begun ? 1 : edit_distance(text, name);
    if (share * distance > std::max(text.size(), name.size()) && !begun) continue;
    if (distance >= least) continue;
    least = distance;
    found = name;
  }
  return found;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  const std::string name = nearest(text, names);
  return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

}  // namespace croquis
