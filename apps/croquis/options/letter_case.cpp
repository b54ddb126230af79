#include "options/letter_case.hpp"

#include <fmt/format.h>

#include "files/progress.hpp"

void note_letter_case(const InputOptions& options, const croquis::WordPiece& vocabulary, std::string_view text) {
  const bool capitals = vocabulary.has_capitals();
  if (options.uncased && capitals) {
    say_once(
        fmt::format("croquis: --uncased: {} has capital letters, which are then not used; leave --uncased out if the "
                    "model is a cased one\n",
                    vocabulary.name()));
  }
  if (!options.uncased && !capitals && vocabulary.capitals_in(text)) {
    say_once(
        fmt::format("croquis: --vocab: {} has no capital letters and the text has; words with them are [UNK] without "
                    "--uncased\n",
                    vocabulary.name()));
  }
}
