// Inputs that a trained model makes of tokens: a text, or ids in files.
#pragma once

#include <croquis/models/model.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "options/input.hpp"
#include "options/pending_head.hpp"

/// The model of --model with its configuration. Throws std::invalid_argument, with the option or the file.
struct OpenedModel {
  std::string name;  ///< for the results: the file; of a model.safetensors, or an index, the folder
  croquis::Model model;
};
OpenedModel open_model(const InputOptions& options);

/// Of all that decides what the model computes: the bytes of its configuration and of its weights. Reads them.
std::string digest_of_model(const InputOptions& options);

/// The configuration alone.
croquis::ModelConfig config_of(const InputOptions& options);

/// Throws std::invalid_argument unless there are a model, and a text or ids.
void require_model(const InputOptions& options);

/// Throws std::invalid_argument, naming the sequence, for more tokens than the model has positions.
void require_positions(arma::uword sequence, arma::uword tokens, const croquis::ModelConfig& config);

/// The tokens of a text in windows of the model's positions, or of --n tokens with --join-windows: WordPieces of a
/// vocab.txt, or those of a tokenizer.json.
struct TextWindows {
  croquis::TokenWindows tokens;
  std::set<std::uint32_t> special;    ///< what is not masked: [CLS], [UNK] and others, and what is around each window
  std::optional<std::uint32_t> mask;  ///< [MASK] or <mask>
};
/// Throws std::invalid_argument, with the option or the file.
TextWindows windows_of_text(const InputOptions& options, const croquis::Model& model);

/// Heads of a trained model, "model:NAME;layer=2;head=1" of a text, "model:NAME;sequence=3;layer=2;head=1" of --ids.
/// They share one run of the model, which goes on from the layer that was asked for last.
std::vector<PendingHead> from_model(const InputOptions& options);
