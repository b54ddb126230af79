// Inputs that are made of a text: heads of an initialised and of a trained BERT.
#pragma once

#include <croquis/random/key.hpp>
#include <string>
#include <utility>
#include <vector>

#include "options/input.hpp"
#include "options/pending_head.hpp"

/// A head of an initialised BERT, "text:FILE", its tokens words or, "text:FILE;vocab=NAME", WordPieces.
std::pair<std::string, croquis::Problem<double>> from_text(const InputOptions& options, const croquis::Key& draw_key);

/// Heads of a trained BERT, "model:NAME;layer=2;head=1". A file model.safetensors has the name of its folder. They
/// share one run of the encoder, which goes on from the layer that was asked for last.
std::vector<PendingHead> from_model(const InputOptions& options);
