#include "commands/model_replacements.hpp"

#include <fmt/format.h>

#include <croquis/core/choices.hpp>
#include <croquis/io/digest.hpp>
#include <stdexcept>
#include <tuple>

#include "options/lists.hpp"
#include "options/method_files.hpp"

using croquis::MethodChoice;
using croquis::Replacement;
using croquis::SavedChoice;

namespace {

// `exact` among the methods is no name of the registry.
std::vector<MethodChoice> named_methods_of_model(const std::string& text, bool causal) {
  std::vector<MethodChoice> methods;
  std::string others;
  for (const std::string& item : croquis::split_list(text, "--methods")) {
    if (item.starts_with("exact:"))
      throw std::invalid_argument(fmt::format("--methods: exact takes no options: {}", item));
    if (item == "exact") {
      if (!methods.empty()) throw std::invalid_argument("--methods: 'exact' stands there twice");
      methods.push_back({"exact", {}, "paper"});
    } else {
      others += (others.empty() ? "" : ",") + item;
    }
  }
  if (others.empty()) return methods;
  for (MethodChoice& choice : croquis::parse_methods(others, {.causal = causal})) methods.push_back(std::move(choice));
  return methods;
}

// A choice says itself which heads it replaces, and by what. A saved configuration has the defaults.
void refuse_options_of_methods(const ReplacementOptions& options) {
  const ReplacementOptions defaults;
  for (const auto& [option, given, by_default] :
       {std::tuple("--layers", options.layers, defaults.layers), std::tuple("--heads", options.heads, defaults.heads),
        std::tuple("--features", options.features, defaults.features)}) {
    if (given == by_default) continue;
    throw std::invalid_argument(fmt::format(
        "{}: is of --methods; --choice says itself which heads it replaces, and by what; leave it out", option));
  }
}

}  // namespace

std::vector<MethodChoice> replacing_methods(const ReplacementOptions& options, bool causal) {
  if (options.methods.empty() && !options.choice.empty()) {
    refuse_options_of_methods(options);
    return {};
  }
  return named_methods_of_model(options.methods.empty() ? "all" : options.methods, causal);
}

ReplacedPlaces replaced_places(const ReplacementOptions& options, const croquis::ModelConfig& config) {
  ReplacedPlaces places{parse_numbers(options.heads, "--heads", config.heads), {}};
  const std::string suffix = options.heads == "all" ? "" : ";heads=" + options.heads;
  if (options.layers == "each") {
    for (arma::uword l = 0; l < config.layers; ++l) places.layers.push_back({fmt::format("{}{}", l, suffix), {l}});
  } else {
    places.layers.emplace_back(options.layers + suffix, parse_numbers(options.layers, "--layers", config.layers));
  }
  return places;
}

std::vector<Replacement> replacements_of(const ReplacementOptions& options, const croquis::ModelConfig& config,
                                         const ReplacedPlaces& places, const std::vector<MethodChoice>& methods,
                                         const std::vector<arma::uword>& features,
                                         const std::vector<SavedChoice>& saved) {
  std::vector<Replacement> replacements;
  for (const auto& [name, numbers] : places.layers) {
    for (const MethodChoice& choice : methods) {
      for (const arma::uword d : croquis::is_exact(choice) ? std::vector<arma::uword>{0} : features) {
        replacements.push_back(croquis::same_replacement(name, numbers, places.heads, {choice, d, {}}));
      }
    }
  }
  if (!saved.empty()) {
    replacements.push_back(croquis::replacement_of(saved, options.choice, config.layers, config.heads));
  }
  return replacements;
}

std::map<std::string, std::string> identity_of_choice(const std::string& path, const std::string& bytes,
                                                      const Replacement& choice) {
  std::vector<MethodChoice> methods;
  for (const auto& [place, head] : choice.heads) methods.push_back(head.choice);
  std::map<std::string, std::string> identity = identity_of_files(methods);
  identity["contents of " + path] = croquis::digest_of(bytes);
  return identity;
}
