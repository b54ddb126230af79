// Output of programs and messages as text.
#pragma once

#include <sstream>
#include <string>
#include <vector>

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// How often.
inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// What stands between the first `begin` and the `end` after it; nothing where one of them is missing.
inline std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t found = text.find(begin), start = found + begin.size();
  if (found == std::string::npos || text.find(end, start) == std::string::npos) return "";
  return text.substr(start, text.find(end, start) - start);
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}
