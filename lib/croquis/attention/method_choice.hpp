// Methods with their options, as users write them.
#pragma once

#include <croquis/attention/method.hpp>
#include <string>
#include <vector>

namespace croquis {

/// A method with its options.
struct MethodChoice {
  std::string name;
  OptionValues options;
  std::string preset;  ///< for the results: the preset, then the other options as written; "paper" when there are none
};

/// "skyformer:preset=code,ridge=0.1,v-mean" or "all". Throws as parse_choices; that the options are those of the method
/// is checked when it is prepared.
std::vector<MethodChoice> parse_methods(const std::string& text, const std::string& where = "--methods");

}  // namespace croquis
