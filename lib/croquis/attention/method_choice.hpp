// Methods with their options, parsed from text.
#pragma once

#include <croquis/attention/method.hpp>
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

/// Parses "skyformer:preset=code,ridge=0.1,v-mean", or "all": all methods, for causal attention all that have a causal
/// form. Throws as parse_choices. Whether a method has these options, and a causal form, is checked when it is
/// prepared.
std::vector<MethodChoice> parse_methods(const std::string& text, bool causal = false,
                                        const std::string& where = "--methods");

/// The same from a name and options by name.
MethodChoice method_choice(const std::string& name, const std::map<std::string, std::string>& options);

/// The target of that name: softmax, kernelized, normalized, softmax-rpe or normalized-rpe. Throws
/// std::invalid_argument for any other name.
Target target_named(const std::string& name);

/// Checks the methods before anything is computed. Throws std::invalid_argument unless every method has the options
/// that it is given, takes rectangular problems if `shape` is one, and has a causal form if `causal`.
void require_usable(const std::vector<MethodChoice>& methods, TokenAlignment shape, bool causal);

}  // namespace croquis
