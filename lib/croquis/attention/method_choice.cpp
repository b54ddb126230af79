#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/method_choice.hpp>
#include <croquis/core/choices.hpp>
#include <croquis/core/nearest.hpp>
#include <map>
#include <stdexcept>

namespace croquis {
namespace {

constexpr Target kTargets[] = {Target::softmax, Target::kernelized, Target::normalized, Target::softmax_rpe,
                               Target::normalized_rpe};

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

std::vector<MethodChoice> parse_methods(const std::string& text, PositionParts position, const std::string& where,
                                        const std::function<bool(const Method<double>&)>& wanted) {
  std::vector<std::string> known;
  for (const auto& method : methods<double>()) known.push_back(method.name);
  std::vector<MethodChoice> methods;
  for (const Choice& choice : parse_choices(text, where, known)) {
    methods.push_back(method_choice(choice.name, choice.options));
  }
  const std::vector<std::string> items = split_list(text, where);
  const auto is_item = [&](const std::string& name) {
    return std::find(items.begin(), items.end(), name) != items.end();
  };
  if (is_item("all")) {  // what is named is kept, and refused where it is used
    std::erase_if(methods, [&](const MethodChoice& choice) {
      const Method<double>& method = find_method<double>(choice.name);
      const bool stays = (!position.causal || method.causal) && (!position.bias || has_position(method.target)) &&
                         (!wanted || wanted(method));
      return !stays && choice.options.all().empty() && !is_item(choice.name);
    });
  }
  return methods;
}

MethodChoice method_choice(const std::string& name, const std::map<std::string, std::string>& options) {
  return {name, OptionValues(options, name), preset_name(options)};
}

std::map<std::string, std::string> options_of_preset(const std::string& preset) {
  std::map<std::string, std::string> options;
  for (std::size_t start = 0; start <= preset.size();) {
    const std::size_t end = std::min(preset.find(';', start), preset.size());
    const std::string item = preset.substr(start, end - start);
    const std::size_t sign = item.find('=');
    if (sign != std::string::npos) options[item.substr(0, sign)] = item.substr(sign + 1);
    if (sign == std::string::npos && item != "paper") options["preset"] = item;
    start = end + 1;
  }
  return options;
}

Target target_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Target target : kTargets) {
    if (name_of(target) == name) return target;
    names.emplace_back(name_of(target));
  }
  throw std::invalid_argument(
      fmt::format("target: '{}' is none of {}{}", name, fmt::join(names, " "), did_you_mean(name, names)));
}

void require_takes_bias(Target target, const std::string& who) {
  if (has_position(target)) return;
  std::string targets, others;
  for (const Target other : kTargets) {
    if (has_position(other)) targets += fmt::format(" {}", name_of(other));
  }
  for (const Method<double>& method : methods<double>()) {
    if (has_position(method.target)) others += " " + method.name;
  }
  throw std::invalid_argument(
      fmt::format("{}: takes no bias; targets that take one are{}, methods{}", who, targets, others));
}

bool takes(const Method<double>& method, TokenAlignment shape) {
  return shape.n_q == shape.n_k || method.rectangular({});
}

bool takes(const MethodChoice& choice, arma::uword d, TokenAlignment shape) {
  const auto most = find_method<double>(choice.name).largest_d(shape, choice.options);
  return d <= shape.n_k && (!most || d <= *most);
}

void require_usable(const std::vector<MethodChoice>& methods, TokenAlignment shape, PositionParts position) {
  const arma::mat zero(1, 1, arma::fill::zeros);
  const Problem<double> tiny(zero, zero, zero, {}, {.bias = {}, .causal = position.causal});
  for (const MethodChoice& choice : methods) {
    const Method<double>& method = find_method<double>(choice.name);
    prepare(method, tiny, choice.options);
    if (!method.rectangular(choice.options)) require_square(shape, choice.name);
    if (position.bias) require_takes_bias(method.target, choice.name);
  }
}

}  // namespace croquis
