// Padding of sequences that is counted as text.
#pragma once

#include <croquis/models/model_config.hpp>
#include <croquis/models/token_sequences.hpp>
#include <vector>

#include "options/input.hpp"

/// Says in a line on standard error that some of these sequences end in the model's padding token where no --lengths
/// are given.
void note_padding(const InputOptions& options, const croquis::TokenSequences& file,
                  const std::vector<arma::uword>& sequences, const croquis::ModelConfig& config);
