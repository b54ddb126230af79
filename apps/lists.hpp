// Lists on the command line.
#pragma once

#include <croquis/attention/method.hpp>
#include <string>
#include <vector>

/// A method with its options, as the user wrote them.
struct MethodChoice {
  std::string name;
  croquis::OptionValues options;
  std::string preset;  ///< for the results: the preset, then the other options as written; "paper" when there are none
};

/// "a,b:preset=code,ridge=0.2,c" or "all": an item with '=' and no ':' is a further option of the method before it.
/// Throws std::invalid_argument for an unknown method, a method twice with one preset, a damaged option.
std::vector<MethodChoice> parse_methods(const std::string& text);

/// "16,32,64" or "16:256" (doubling), or both: "8,16:64". Positive, ascending after sorting, each once.
/// Throws std::invalid_argument for anything else.
std::vector<arma::uword> parse_features(const std::string& text);

/// The items between commas, without spaces around them; empty items are refused.
std::vector<std::string> split_list(const std::string& text, const std::string& option);
