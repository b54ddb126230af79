// Padding of sequences that is counted as text, and text that is not read.
#pragma once

#include <croquis/models/model_config.hpp>
#include <croquis/models/token_sequences.hpp>
#include <vector>

#include "options/input.hpp"

/// Says in lines on standard error how many of these sequences begin with the model's padding token; without --lengths,
/// how many end in it; with them, how many have other tokens beyond their length.
void note_padding(const InputOptions& options, const croquis::TokenSequences& file,
                  const std::vector<arma::uword>& sequences, const croquis::ModelConfig& config);
