// Texts that are read with another case than that of the vocabulary.
#pragma once

#include <croquis/models/wordpiece.hpp>
#include <string_view>

#include "options/input.hpp"

/// Says in a line on standard error where --uncased seems to be missing, because the text has capital letters (of
/// ASCII) and the vocabulary has none; or to be wrong, because the vocabulary has them.
void note_letter_case(const InputOptions& options, const croquis::WordPiece& vocabulary, std::string_view text);
