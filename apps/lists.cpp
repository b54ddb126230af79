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

arma::uword parse_count(std::string_view text, const std::string& whole) {
  arma::uword value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr arma::uword most = 1U << 30;
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most) {
    refuse(fmt::format("--features: '{}' in '{}' is not a whole number from 1 to {}; give 16,32,64 or 16:256", text,
                       whole, most));
  }
  return value;
}

void require_known(const std::string& name) {
  std::string known;
  for (const auto& method : croquis::methods<double>()) {
    if (method.name == name) return;
    known += " " + method.name;
  }
  refuse(fmt::format("--methods: '{}' is none of{}", name, known));
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

std::vector<MethodChoice> parse_methods(const std::string& text) {
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> parsed;
  for (const std::string& item : split_list(text, "--methods")) {
    std::string option = item;
    if (const std::size_t colon = item.find(':'); colon != std::string::npos || item.find('=') == std::string::npos) {
      parsed.emplace_back(item.substr(0, colon), std::map<std::string, std::string>());
      if (colon == std::string::npos) continue;
      option = item.substr(colon + 1);
    } else if (parsed.empty()) {
      refuse(fmt::format("--methods: option '{}' stands before any method", item));
    }
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse(fmt::format("--methods: '{}' is not NAME=VALUE; write method:name=value,name=value", option));
    }
    if (!parsed.back().second.emplace(option.substr(0, equals), option.substr(equals + 1)).second) {
      refuse(fmt::format("--methods: option '{}' is given twice", option.substr(0, equals)));
    }
  }

  std::vector<MethodChoice> choices;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const std::map<std::string, std::string>& options) {
    const std::string preset = preset_name(options);
    if (!seen.insert(name + ':' + preset).second) refuse(fmt::format("--methods: '{}' stands there twice", name));
    choices.push_back({name, croquis::OptionValues(options), preset});
  };
  for (const auto& [name, options] : parsed) {
    if (name == "all") {
      if (!options.empty()) refuse("--methods: 'all' takes no options");
      for (const auto& method : croquis::methods<double>()) add(method.name, {});
    } else {
      require_known(name);
      add(name, options);
    }
  }
  return choices;
}

std::vector<arma::uword> parse_features(const std::string& text) {
  std::vector<arma::uword> features;
  for (const std::string& item : split_list(text, "--features")) {
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos) {
      features.push_back(parse_count(item, text));
      continue;
    }
    const arma::uword first = parse_count(std::string_view(item).substr(0, colon), text);
    const arma::uword last = parse_count(std::string_view(item).substr(colon + 1), text);
    if (first > last) refuse(fmt::format("--features: '{}' runs downwards", item));
    for (arma::uword d = first; d <= last; d *= 2) features.push_back(d);
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}
