// Lists of sizes and numbers on the command line.
#pragma once

#include <armadillo>
#include <optional>
#include <string>
#include <vector>

/// "16,32,64" or "16:256" (doubling), or both: "8,16:64". Positive, ascending after sorting, each once.
/// Throws std::invalid_argument for anything else.
std::vector<arma::uword> parse_sizes(const std::string& text, const std::string& option);

/// "all" or numbers and ranges as in "0-3,7", each number below `count` and there once, in the order given.
/// Throws std::invalid_argument for anything else.
std::vector<arma::uword> parse_numbers(const std::string& text, const std::string& option, arma::uword count);

/// The finite number that all of the text is.
std::optional<double> parse_number(const std::string& text);

/// The value, or `fallback` where none was given. Throws std::invalid_argument unless it is positive.
arma::uword positive_or(const std::optional<long long>& value, arma::uword fallback, const std::string& option);
