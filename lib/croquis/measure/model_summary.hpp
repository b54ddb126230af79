// Losses of a model over its sequences, from the rows of single passes.
#pragma once

#include <croquis/measure/columns.hpp>
#include <croquis/measure/model_loss.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace croquis {

/// The results for one choice of layers, method and d over all sequences. Means are over positions with labels, so a
/// sequence has the weight of their number. Standard errors are those between sequences, for this ratio estimate; NaN
/// for one sequence.
struct ModelSummary {
  std::string model, layers, method, preset;
  std::uint64_t features = 0, sequences = 0, draws = 0, counted = 0, failed = 0;
  double loss = 0, loss_error = 0, loss_exact = 0;
  double increase = 0, increase_error = 0;  ///< loss - loss_exact: its error is that of differences
  double accuracy = 0, accuracy_error = 0, accuracy_exact = 0;
  double agreement = 0, agreement_error = 0, kl = 0, kl_error = 0, hidden_rel = 0, hidden_rel_error = 0;
  double seconds = 0, flops = 0, flops_ratio = 0;
};
const Columns<ModelSummary>& model_summary_columns();

/// The summaries, in the order of their first rows. Draws of a sequence are averaged first. Failed rows are counted and
/// left out; NaN if none is left.
std::vector<ModelSummary> summarise_models(const std::vector<ModelRow>& rows);

/// The error of one layer's output, mean over sequences and draws.
struct LayerError {
  std::string model, layers, method, preset;
  std::uint64_t features = 0, layer = 0, passes = 0;
  double hidden_rel = 0, smallest = 0, largest = 0;
};
const Columns<LayerError>& layer_error_columns();

/// The errors of layers from the rows of --by-layer; empty for other rows.
std::vector<LayerError> errors_by_layer(const std::vector<ModelRow>& rows);

}  // namespace croquis
