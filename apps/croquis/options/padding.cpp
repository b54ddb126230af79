#include "options/padding.hpp"

#include <fmt/format.h>

#include <croquis/distributed/communicator.hpp>

#include "files/progress.hpp"

void note_padding(const InputOptions& options, const croquis::TokenSequences& file,
                  const std::vector<arma::uword>& sequences, const croquis::ModelConfig& config) {
  if (!options.lengths.empty() || !config.padding || croquis::Communicator::world().rank() > 0) return;
  const arma::uword padded = file.ending_in(*config.padding, sequences);
  if (padded == 0) return;
  say(
      fmt::format("croquis: {}: {} of {} sequences end in token {}, the model's padding, and count it as text; give "
                  "--lengths\n",
                  options.ids, padded, sequences.size(), *config.padding));
}
