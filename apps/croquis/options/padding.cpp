#include "options/padding.hpp"

#include <fmt/format.h>

#include <croquis/distributed/communicator.hpp>

#include "files/progress.hpp"

void note_padding(const InputOptions& options, const croquis::TokenSequences& file,
                  const std::vector<arma::uword>& sequences, const croquis::ModelConfig& config) {
  if (!config.padding || croquis::Communicator::world().rank() > 0) return;
  const croquis::TokenSequences::Padding padding = file.padding(*config.padding, sequences);
  const auto note = [&](const std::string& of, arma::uword count, const char* verb, const char* rest) {
    if (count == 0) return;
    say(fmt::format("croquis: {}: {} of {} sequences {} token {}, the model's padding, {}\n", of, count,
                    sequences.size(), verb, *config.padding, rest));
  };
  if (options.lengths.empty()) note(options.ids, padding.ending, "end in", "and count it as text; give --lengths");
  note(options.ids, padding.beginning, "begin with", "and count it as text; if it is padding, pad on the right");
  if (!options.lengths.empty()) {
    note(options.lengths, padding.beyond, "have others than", "beyond their length, which are not read");
  }
}
