#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/choices.hpp>
#include <croquis/core/nearest.hpp>
#include <croquis/core/require.hpp>
#include <set>
#include <stdexcept>

namespace croquis {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument(as_one_line(why));
}

void require_known(const std::string& name, const std::string& option, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  refuse(fmt::format("{}: '{}' is none of {}{}", option, name, fmt::join(known, " "), did_you_mean(name, known)));
}

std::string label_of(const std::string& name, const std::map<std::string, std::string>& options) {
  std::string label = name;
  char separator = ':';
  for (const auto& [key, value] : options) {
    label += fmt::format("{}{}={}", separator, key, value);
    separator = ',';
  }
  return label;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text, const std::string& option) {
  std::vector<std::string> items;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    std::string item = text.substr(start, end - start);
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    if (item.empty()) refuse(fmt::format("{}: an empty item in '{}'", option, text));
    items.push_back(std::move(item));
    start = end + 1;
  }
  return items;
}

std::vector<Choice> parse_choices(const std::string& text, const std::string& option,
                                  const std::vector<std::string>& known) {
  std::vector<Choice> choices;
  for (const std::string& item : split_list(text, option)) {
    std::string setting = item;
    if (const std::size_t colon = item.find(':'); colon != std::string::npos || item.find('=') == std::string::npos) {
      choices.push_back({item.substr(0, colon), {}, {}});
      if (colon == std::string::npos) continue;
      setting = item.substr(colon + 1);
    } else if (choices.empty()) {
      refuse(fmt::format("{}: option '{}' stands before any name", option, item));
    }
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse(fmt::format("{}: '{}' is not NAME=VALUE; write name:option=value,option=value", option, setting));
    }
    if (!choices.back().options.emplace(setting.substr(0, equals), setting.substr(equals + 1)).second) {
      refuse(fmt::format("{}: option '{}' is given twice", option, setting.substr(0, equals)));
    }
  }

  std::vector<Choice> expanded;
  for (Choice& choice : choices) {
    if (choice.name != "all") {
      require_known(choice.name, option, known);
      expanded.push_back(std::move(choice));
      continue;
    }
    if (!choice.options.empty()) refuse(fmt::format("{}: 'all' takes no options", option));
    for (const std::string& name : known) expanded.push_back({name, {}, {}});
  }
  std::set<std::string> seen;
  for (Choice& choice : expanded) {
    choice.label = label_of(choice.name, choice.options);
    if (!seen.insert(choice.label).second) refuse(fmt::format("{}: '{}' stands there twice", option, choice.label));
  }
  return expanded;
}

std::size_t index_of_name(std::string_view name, const std::vector<std::string>& names, std::string_view where,
                          std::string_view label) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) require(false, where, fmt::format("one of {}", fmt::join(names, " ")), {{label, name}});
  return static_cast<std::size_t>(found - names.begin());
}

void require_option(const std::string& option, const std::string& where, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), option) != names.end()) return;
  const std::string takes = names.empty() ? "no options" : fmt::format("the options {}", fmt::join(names, " "));
  refuse(fmt::format("{}: takes {}, got option = {}{}", where, takes, option, did_you_mean(option, names)));
}

}  // namespace croquis
