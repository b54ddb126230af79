// A number with its noun, for messages.
#pragma once

#include <string>

namespace croquis {

/// "1 head", "2 heads": nouns whose plural ends in s.
inline std::string counted(unsigned long long count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace croquis
