#include "options/vocabulary_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/progress.hpp"

void note_vocabulary(const InputOptions& options, const croquis::WordPiece& vocabulary, std::string_view text,
                     const croquis::TokenIds& ids) {
  const bool capitals = vocabulary.has_capitals();
  const auto unknown = static_cast<double>(std::count(ids.begin(), ids.end(), vocabulary.id("[UNK]")));
  const double share = unknown / static_cast<double>(ids.size());
  if (options.uncased && capitals) {
    say_once(
        fmt::format("croquis: --uncased: {} has capital letters, which are then not used; leave --uncased out if the "
                    "model is a cased one\n",
                    vocabulary.name()));
  } else if (!options.uncased && !capitals && vocabulary.capitals_in(text)) {
    say_once(
        fmt::format("croquis: --vocab: {} has no capital letters and the text has; words with them are [UNK] without "
                    "--uncased\n",
                    vocabulary.name()));
  } else if (share > 0.25) {
    say_once(fmt::format(
        "croquis: --vocab: {:.0f} % of the tokens of the text are [UNK]; is {} the vocabulary of the model?\n",
        100 * share, vocabulary.name()));
  }
}
