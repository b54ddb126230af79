// Lists on the command line.
#pragma once

#include <croquis/attention/method.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// A name with options, as the user wrote them.
struct Choice {
  std::string name;
  std::map<std::string, std::string> options;
  std::string label;  ///< the name, then the options in alphabetical order: "sjlt:s=4"
};

/// "a,b:x=1,y=2,c" or "all" (the known names): an item with '=' and no ':' is a further option of the name before it.
/// Throws std::invalid_argument for an unknown name, one twice with the same options, a damaged option.
std::vector<Choice> parse_choices(const std::string& text, const std::string& option,
                                  const std::vector<std::string>& known);

/// A method with its options.
struct MethodChoice {
  std::string name;
  croquis::OptionValues options;
  std::string preset;  ///< for the results: the preset, then the other options as written; "paper" when there are none
};

/// The methods of a list as parse_choices() reads it.
std::vector<MethodChoice> parse_methods(const std::string& text);

/// "16,32,64" or "16:256" (doubling), or both: "8,16:64". Positive, ascending after sorting, each once.
/// Throws std::invalid_argument for anything else.
std::vector<arma::uword> parse_sizes(const std::string& text, const std::string& option);

/// The items between commas, without spaces around them; empty items are refused.
std::vector<std::string> split_list(const std::string& text, const std::string& option);

/// "all" or numbers as in "0,3", each below `count` and there once, in the order given.
/// Throws std::invalid_argument for anything else.
std::vector<arma::uword> parse_numbers(const std::string& text, const std::string& option, arma::uword count);

/// The value, or `fallback` where none was given. Throws std::invalid_argument unless it is positive.
arma::uword positive_or(const std::optional<long long>& value, arma::uword fallback, const std::string& option);
