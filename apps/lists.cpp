#include "lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument(why);
}

arma::uword parse_count(std::string_view text, const std::string& whole, const std::string& option) {
  arma::uword value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr arma::uword most = 1U << 30;
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most) {
    refuse(fmt::format("{}: '{}' in '{}' is not a whole number from 1 to {}; give 16,32,64 or 16:256", option, text,
                       whole, most));
  }
  return value;
}

void require_known(const std::string& name, const std::string& option, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  refuse(fmt::format("{}: '{}' is none of {}", option, name, fmt::join(known, " ")));
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

// "preset" first, then the others in alphabetical order.
std::string preset_name(const std::map<std::string, std::string>& options) {
  std::string name = "paper";
  if (const auto preset = options.find("preset"); preset != options.end()) name = preset->second;
  for (const auto& [key, value] : options) {
    if (key != "preset") name += fmt::format(";{}={}", key, value);
  }
  return name;
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

std::vector<MethodChoice> parse_methods(const std::string& text) {
  std::vector<std::string> known;
  for (const auto& method : croquis::methods<double>()) known.push_back(method.name);
  std::vector<MethodChoice> methods;
  for (const Choice& choice : parse_choices(text, "--methods", known)) {
    methods.push_back({choice.name, croquis::OptionValues(choice.options), preset_name(choice.options)});
  }
  return methods;
}

std::vector<arma::uword> parse_sizes(const std::string& text, const std::string& option) {
  std::vector<arma::uword> features;
  for (const std::string& item : split_list(text, option)) {
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos) {
      features.push_back(parse_count(item, text, option));
      continue;
    }
    const arma::uword first = parse_count(std::string_view(item).substr(0, colon), text, option);
    const arma::uword last = parse_count(std::string_view(item).substr(colon + 1), text, option);
    if (first > last) refuse(fmt::format("{}: '{}' runs downwards", option, item));
    for (arma::uword d = first; d <= last; d *= 2) features.push_back(d);
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

std::vector<arma::uword> parse_numbers(const std::string& text, const std::string& option, arma::uword count) {
  std::vector<arma::uword> numbers;
  if (text == "all") {
    for (arma::uword i = 0; i < count; ++i) numbers.push_back(i);
    return numbers;
  }
  for (const std::string& item : split_list(text, option)) {
    arma::uword number = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc{} || end != item.data() + item.size() || number >= count) {
      refuse(fmt::format("{}: '{}' is none of 0 to {}", option, item, count - 1));
    }
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
      refuse(fmt::format("{}: {} is there twice", option, number));
    }
    numbers.push_back(number);
  }
  return numbers;
}

arma::uword positive_or(const std::optional<long long>& value, arma::uword fallback, const std::string& option) {
  if (!value) return fallback;
  if (*value < 1) refuse(fmt::format("{}: {} is not a positive number", option, *value));
  return static_cast<arma::uword>(*value);
}
