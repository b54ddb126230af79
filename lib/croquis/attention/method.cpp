#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/core/require.hpp>
#include <croquis/io/npy.hpp>

namespace croquis {

template <typename T>
Approximation<T> from_scores(LinearOperator<T> scores, const Problem<T>& problem) {
  Approximation<T> approximation;
  approximation.output = scores.apply(problem.V());
  approximation.scores = std::move(scores);
  return approximation;
}

std::string OptionValues::take_choice(const std::string& name, const std::vector<std::string>& choices,
                                      const std::string& fallback) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  std::string rule = name + " is one of";
  for (const std::string& choice : choices) rule += " " + choice;
  require(std::find(choices.begin(), choices.end(), found->second) != choices.end(), "option", rule,
          {{name, std::string_view(found->second)}});
  return found->second;
}

double OptionValues::take_number(const std::string& name, double least, double most, double fallback) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  const std::string& text = found->second;
  double value = std::nan("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool parsed = error == std::errc{} && end == text.data() + text.size();
  require(parsed && value >= least && value <= most, "option",
          fmt::format("{} is a number from {:g} to {:g}", name, least, most), {{name, std::string_view(text)}});
  return value;
}

int OptionValues::take_count(const std::string& name, int least, int most, int fallback) const {
  const double value = take_number(name, least, most, fallback);
  require(value == std::floor(value), "option", name + " is a whole number", {{name, value}});
  return static_cast<int>(value);
}

arma::uvec OptionValues::take_indices(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return {};
  const arma::vec numbers = arma::vectorise(read_npy(found->second));
  constexpr double most = 1e15;
  for (const double x : numbers) {
    require(x >= 0 && x < most && x == std::floor(x), name, "whole numbers >= 0", {{"value", x}});
  }
  return arma::conv_to<arma::uvec>::from(numbers);
}

template <typename T>
const Method<T>& find_method(std::string_view name) {
  std::string known;
  for (const Method<T>& method : methods<T>()) {
    if (method.name == name) return method;
    known += " " + method.name;
  }
  require(false, "method", "one of" + known, {{"name", name}});
  return methods<T>().front();  // not reached
}

template <typename T>
BoundMethod<T> bind(const Method<T>& method, const Problem<T>& problem, const OptionValues& options) {
  std::string known;
  for (const OptionInfo& info : method.options) known += " " + info.name;
  for (const auto& [name, value] : options.all()) {
    const bool has = std::any_of(method.options.begin(), method.options.end(),
                                 [&name = name](const OptionInfo& info) { return info.name == name; });
    require(has, method.name, known.empty() ? "takes no options" : "takes the options" + known,
            {{"option", std::string_view(name)}});
  }
  return method.bind(problem, options);
}

template Approximation<float> from_scores(LinearOperator<float>, const Problem<float>&);
template Approximation<double> from_scores(LinearOperator<double>, const Problem<double>&);
template const Method<float>& find_method(std::string_view);
template const Method<double>& find_method(std::string_view);
template BoundMethod<float> bind(const Method<float>&, const Problem<float>&, const OptionValues&);
template BoundMethod<double> bind(const Method<double>&, const Problem<double>&, const OptionValues&);

}  // namespace croquis
