// Texts that do not go with their vocabulary.
#pragma once

#include <croquis/models/wordpiece.hpp>
#include <string_view>

#include "options/input.hpp"

/// Says in a line on standard error where --uncased seems to be missing, because the text has capital letters (of
/// ASCII) and the vocabulary has none; or to be wrong, because the vocabulary has them; or else where more than a
/// quarter of `ids`, the tokens of the text, are [UNK].
void note_vocabulary(const InputOptions& options, const croquis::WordPiece& vocabulary, std::string_view text,
                     const croquis::TokenIds& ids);
