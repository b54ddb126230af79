// Lists of sizes and numbers on the command line.
#pragma once

#include <armadillo>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// "16,32,64", or "16:256" for what doubling gives from 16 up to 256, and 256 itself; or both: "8,16:100" is 8, 16, 32,
/// 64, 100. Positive, ascending after sorting, each once. A range ends at `most`, where that is less; a number of its
/// own may be larger, for the caller to refuse.
/// Throws std::invalid_argument for anything else.
std::vector<arma::uword> parse_sizes(const std::string& text, const std::string& option,
                                     arma::uword most = std::numeric_limits<arma::uword>::max());

/// "all" or numbers and ranges as in "0-3,7", each number below `count` and there once, in the order given.
/// Throws std::invalid_argument for anything else.
std::vector<arma::uword> parse_numbers(const std::string& text, const std::string& option, arma::uword count);

/// "all" or names out of `known`, in the order given. Throws std::invalid_argument for anything else, also for a name
/// with options.
std::vector<std::string> parse_names(const std::string& text, const std::string& option,
                                     const std::vector<std::string>& known);

/// The numbers of a list, in the order given. `number` makes one of an item, and throws where it cannot.
/// Throws std::invalid_argument where a number stands there twice.
std::vector<double> numbers_once(const std::string& text, const std::string& option,
                                 const std::function<double(const std::string& item)>& number);

/// The value, or `fallback` where none was given. Throws std::invalid_argument unless it is positive.
arma::uword positive_or(const std::optional<long long>& value, arma::uword fallback, const std::string& option);
