// Methods with their options, as users write them.
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
  std::string preset;  ///< for the results: the preset, then the other options as written; "paper" when there are none
};

/// "skyformer:preset=code,ridge=0.1,v-mean" or "all": for causal attention, all that have a causal form. Throws as
/// parse_choices; that the options are those of the method, and that it has a causal form, is checked when it is
/// prepared.
std::vector<MethodChoice> parse_methods(const std::string& text, bool causal = false,
                                        const std::string& where = "--methods");

/// The same from a name and options by name.
MethodChoice method_choice(const std::string& name, const std::map<std::string, std::string>& options);

/// The target of that name: softmax, kernelized, normalized, softmax-rpe or normalized-rpe. Throws
/// std::invalid_argument, with these names, for another one.
Target target_named(const std::string& name);

/// Throws std::invalid_argument unless every method has the options that it is given, a form for other numbers of
/// queries than of keys if `shape` has them, and a causal form if attention is to be causal: so that what is wrong is
/// found before anything is computed.
void require_usable(const std::vector<MethodChoice>& methods, TokenAlignment shape, bool causal);

}  // namespace croquis
