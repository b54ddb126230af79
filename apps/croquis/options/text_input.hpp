// Inputs that are made of a text: a head of an initialised BERT, and what texts have in common.
#pragma once

#include <croquis/random/key.hpp>
#include <string>
#include <utility>

#include "options/input.hpp"

/// A head of an initialised BERT, "text:FILE", its tokens words or, "text:FILE;vocab=NAME", WordPieces.
std::pair<std::string, croquis::Problem<double>> from_text(const InputOptions& options, const croquis::Key& draw_key);

/// Tokens of a text where no --n says so.
inline constexpr arma::uword kDefaultTokens = 1024;

/// The bytes of --text, or the sample text.
std::string text_of(const InputOptions& options);

/// Throws std::invalid_argument when the text has fewer tokens than n.
void require_length(arma::uword tokens, arma::uword n);
