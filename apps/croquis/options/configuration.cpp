#include "options/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "options/common_options.hpp"

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
}

}  // namespace

std::string configuration_of(const CLI::App& command) {
  // What of an input is not given follows from what is given, as its kind does, so that a default would contradict it.
  std::set<std::string> implied;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == kInputGroup && option->count() == 0) implied.insert(option->get_single_name());
  }
  std::istringstream all(command.config_to_str(true));
  std::string kept = fmt::format("[{}]\n", command.get_name());
  for (std::string line; std::getline(all, line);) {
    if (!line.ends_with("=\"\"") && !implied.contains(line.substr(0, line.find('=')))) kept += line + '\n';
  }
  return kept;
}

std::string complaint_about_configuration(const std::string& path) {
  constexpr std::uintmax_t most = 1 << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > most) {
    return path + " is not a file of options";
  }
  std::istringstream lines(croquis::read_bytes(path));
  std::set<std::string> seen;
  std::string section;
  int number = 0;
  for (std::string raw; std::getline(lines, raw);) {
    ++number;
    const std::string line = trimmed(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      section = line.ends_with(']') ? trimmed(std::string_view(line).substr(1, line.size() - 2)) : "";
      if (!is_name(section)) return fmt::format("{}: line {} is not [COMMAND]", path, number);
      continue;
    }
    const std::string name = trimmed(std::string_view(line).substr(0, line.find('=')));
    const std::size_t dot = name.find('.');
    const std::string option = dot == std::string::npos ? name : name.substr(dot + 1);
    if (!is_name(option)) return fmt::format("{}: line {} is not OPTION=VALUE", path, number);
    if (!seen.insert(section + '.' + name).second) {
      return fmt::format("{}: line {} gives {} a second time", path, number, name);
    }
  }
  return {};
}
