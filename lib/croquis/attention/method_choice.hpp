// Methods with their options, parsed from text.
#pragma once

#include <croquis/attention/method.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace croquis {

/// A method with its options.
struct MethodChoice {
  std::string name;
  OptionValues options;
  std::string preset;  ///< for the results: the preset, then the other options as written; "paper" if there are none
};

/// What a position has, where its numbers do not matter.
struct PositionParts {
  bool causal = false, bias = false;
};
template <typename T>
PositionParts parts_of(const RelativePosition<T>& position) {
  return {.causal = position.causal, .bias = !position.bias.is_empty()};
}

/// Parses "skyformer:preset=code,ridge=0.1,v-mean", or "all". "all" means every method that is `wanted`, in causal
/// attention only if it has a causal form, and with a bias only if its target has the bias. Throws as parse_choices.
/// Whether a method that is named has these options, and takes the position, is checked by require_usable.
std::vector<MethodChoice> parse_methods(const std::string& text, PositionParts position = {},
                                        const std::string& where = "--methods",
                                        const std::function<bool(const Method<double>&)>& wanted = {});

/// The same from a name and options by name.
MethodChoice method_choice(const std::string& name, const std::map<std::string, std::string>& options);

/// The options that a preset of the results was made of: "code;ridge=0.1" -> preset=code and ridge=0.1. What `paper`
/// stands for is the default, and is left out.
std::map<std::string, std::string> options_of_preset(const std::string& preset);

/// The target of that name: softmax, kernelized, normalized, softmax-rpe or normalized-rpe. Throws
/// std::invalid_argument for any other name.
Target target_named(const std::string& name);

/// Throws std::invalid_argument, with a message that begins with `who`, unless the target has the problem's bias; the
/// message lists the targets and methods that have it. The other targets would silently ignore the bias.
void require_takes_bias(Target target, const std::string& who);

/// Whether the method, without options, takes heads with these numbers of queries and keys.
bool takes(const Method<double>& method, TokenAlignment shape);

/// Whether the method takes d on heads of this size as an approximation: at most n_k, and its largest d if it has one.
bool takes(const MethodChoice& choice, arma::uword d, TokenAlignment shape);

/// Checks the methods before anything is computed. Throws std::invalid_argument unless every method has the options
/// that it is given, takes rectangular problems if `shape` is one, has a causal form if the position is causal, and a
/// target with a bias if it has one.
void require_usable(const std::vector<MethodChoice>& methods, TokenAlignment shape, PositionParts position);

}  // namespace croquis
