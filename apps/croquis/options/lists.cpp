#include "options/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <croquis/core/choices.hpp>

#include "options/refuse.hpp"

using croquis::split_list;

namespace {

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

}  // namespace

std::vector<arma::uword> parse_sizes(const std::string& text, const std::string& option, arma::uword most) {
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
    const arma::uword end = std::min(last, most);
    for (arma::uword d = first; d < end; d *= 2) features.push_back(d);
    features.push_back(end);
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
  const auto number_in = [&](std::string_view digits, const std::string& item) {
    arma::uword number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size() || number >= count) {
      refuse(fmt::format("{}: '{}' is none of 0 to {}", option, item, count - 1));
    }
    return number;
  };
  for (const std::string& item : split_list(text, option)) {
    const std::size_t dash = std::min(item.find('-'), item.size());
    const arma::uword first = number_in(std::string_view(item).substr(0, dash), item);
    const arma::uword last = dash == item.size() ? first : number_in(std::string_view(item).substr(dash + 1), item);
    if (first > last) refuse(fmt::format("{}: '{}' runs downwards", option, item));
    for (arma::uword number = first; number <= last; ++number) {
      if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
        refuse(fmt::format("{}: {} is there twice", option, number));
      }
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::vector<std::string> parse_names(const std::string& text, const std::string& option,
                                     const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const croquis::Choice& choice : croquis::parse_choices(text, option, known)) {
    if (!choice.options.empty()) refuse(fmt::format("{}: '{}' takes no options", option, choice.name));
    names.push_back(choice.name);
  }
  return names;
}

std::vector<double> numbers_once(const std::string& text, const std::string& option,
                                 const std::function<double(const std::string& item)>& number) {
  std::vector<double> numbers;
  for (const std::string& item : split_list(text, option)) {
    const double value = number(item);
    if (std::find(numbers.begin(), numbers.end(), value) != numbers.end()) {
      refuse(fmt::format("{}: {} stands there twice", option, item));
    }
    numbers.push_back(value);
  }
  return numbers;
}

arma::uword positive_or(const std::optional<long long>& value, arma::uword fallback, const std::string& option) {
  if (!value) return fallback;
  if (*value < 1) refuse(fmt::format("{}: {} is not a positive number", option, *value));
  return static_cast<arma::uword>(*value);
}
