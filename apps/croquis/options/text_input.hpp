// Inputs that are made of a text: heads of an initialised and of a trained BERT.
#pragma once

#include <croquis/random/key.hpp>
#include <string>
#include <utility>
#include <vector>

#include "options/input.hpp"

/// A head and its name in the results.
using NamedHead = std::pair<std::string, croquis::Problem<double>>;

/// A head of an initialised BERT, "text:FILE", its tokens words or, "text:FILE;vocab=NAME", WordPieces.
NamedHead from_text(const InputOptions& options, const croquis::Key& draw_key);

/// Heads of a trained BERT, "model:NAME;layer=2;head=1". A file model.safetensors has the name of its folder.
std::vector<NamedHead> from_model(const InputOptions& options);
