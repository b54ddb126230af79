// Padding of sequences that is counted as text.
#pragma once

#include <croquis/models/model_config.hpp>
#include <croquis/models/token_sequences.hpp>

#include "options/input.hpp"

/// Says in a line on standard error that sequences end in the model's padding token where no --lengths are given.
void note_padding(const InputOptions& options, const croquis::TokenSequences& sequences,
                  const croquis::ModelConfig& config);
