// The sequences on which croquis model runs a model.
#pragma once

#include <croquis/models/token_sequences.hpp>
#include <croquis/random/key.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "options/input.hpp"
#include "options/model_input.hpp"

struct ModelSequences {
  std::vector<arma::uword> numbers, lengths;                          ///< of each that was chosen
  std::function<croquis::LabelledSequence(std::size_t chosen)> read;  ///< the same every time; for any thread
  std::string source;                                                 ///< for the meta file: files and masks
};

struct LabelOptions {
  std::string labels;               ///< .npy; empty: a decoder's next tokens
  std::optional<double> mask = {};  ///< of a text: the share of tokens that are masked and predicted; default 0.15
};

/// Those of --ids, or of a text in windows of the model's positions. Of a text, a decoder predicts the next tokens; of
/// another model `mask` of the tokens of each window (special ones, as [CLS] and [UNK], aside; one at least) are [MASK]
/// and to be predicted. Throws std::invalid_argument, with the option or the file: as TokenSequences; a sequence longer
/// than the model's positions; an encoder without labels; labels of a decoder that are the ids; a sequence with nothing
/// to be predicted; a mask beside ids.
ModelSequences model_sequences(const InputOptions& o, const LabelOptions& labels, const croquis::Model& model,
                               const croquis::Key& draw_key);

/// What rows depend on, for the meta file: the model, in all of its files, and tokens and labels. Throws
/// std::invalid_argument where the first sequence shows weights that overflow or are no numbers, so that this is said
/// before there are results.
std::map<std::string, std::string> identity_of(const InputOptions& o, const OpenedModel& opened,
                                               const ModelSequences& sequences);
