#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <croquis/attention/options.hpp>
#include <croquis/io/npy_integers.hpp>
#include <string_view>

namespace croquis {

std::string OptionValues::get_choice(const std::string& name, const std::vector<std::string>& choices,
                                     const std::string& default_value) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return default_value;
  std::string rule = name + " is one of";
  for (const std::string& choice : choices) rule += " " + choice;
  require(std::find(choices.begin(), choices.end(), found->second) != choices.end(), where_, rule,
          {{name, std::string_view(found->second)}});
  return found->second;
}

double OptionValues::get_number(const std::string& name, double minimum, double maximum, double default_value) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return default_value;
  const std::string& text = found->second;
  double value = std::nan("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool parsed = error == std::errc{} && end == text.data() + text.size();
  require(parsed && value >= minimum && value <= maximum, where_,
          fmt::format("{} is a number from {:g} to {:g}", name, minimum, maximum), {{name, std::string_view(text)}});
  return value;
}

int OptionValues::get_count(const std::string& name, int minimum, int maximum, int default_value) const {
  const double value = get_number(name, minimum, maximum, default_value);
  require(value == std::floor(value), where_, name + " is a whole number", {{name, value}});
  return static_cast<int>(value);
}

arma::uvec OptionValues::get_indices(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return {};
  const arma::vec numbers = read_npy_list(found->second);
  constexpr double end = 1e15;
  for (const double x : numbers) {
    require(x >= 0 && x < end && x == std::floor(x), where_, name + " are whole numbers >= 0", {{"value", x}});
  }
  return arma::conv_to<arma::uvec>::from(numbers);
}

std::string shown_choices(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string shown_number(double value) {
  std::string text = fmt::format("{:g}", value);
  if (value == std::floor(value) && std::abs(value) <= 1e6) text = fmt::format("{:.0f}", value);
  return text;
}

std::string shown_range(double minimum, double maximum) {
  return fmt::format("{} to {}", shown_number(minimum), shown_number(maximum));
}

}  // namespace croquis
