// croquis model: what is run in place of the exact model.
#pragma once

#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/model_loss.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct ReplacementOptions {
  std::string methods, features = "16:128", layers = "all", heads = "all", choice;
};

/// What --methods names, by default all methods that suit the model; nothing where there is --choice alone. Throws
/// std::invalid_argument.
std::vector<croquis::MethodChoice> replacing_methods(const ReplacementOptions& options, bool causal);

/// Where --methods are run: the heads of each of --layers and --heads, and the names of these in the rows.
struct ReplacedPlaces {
  std::vector<arma::uword> heads;
  std::vector<std::pair<std::string, std::vector<arma::uword>>> layers;
};
ReplacedPlaces replaced_places(const ReplacementOptions& options, const croquis::ModelConfig& config);

/// Every method at every d in these places, and last what --choice has, where something is saved there.
std::vector<croquis::Replacement> replacements_of(const ReplacementOptions& options, const croquis::ModelConfig& config,
                                                  const ReplacedPlaces& places,
                                                  const std::vector<croquis::MethodChoice>& methods,
                                                  const std::vector<arma::uword>& features,
                                                  const std::vector<croquis::SavedChoice>& saved);

/// For the meta file: a choice may change under its name, and so may the files that options of its methods name.
std::map<std::string, std::string> identity_of_choice(const std::string& path, const std::string& bytes,
                                                      const croquis::Replacement& choice);
