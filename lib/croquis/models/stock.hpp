// What says that a model is not computed as its type is: code of its own, quantised weights, adapters. Not installed.
#pragma once

#include <croquis/models/config_entries.hpp>
#include <croquis/models/model_config.hpp>
#include <croquis/models/model_weights.hpp>

namespace croquis {

// Both throw std::invalid_argument, in one line that names the file and what was found in it. Such models have the
// tensors of their type and others besides, so a loss could be computed, but it would be that of another model.

void require_stock_entries(const ConfigEntries& entries, ModelType type);
void require_stock_tensors(const ModelWeights& weights);

}  // namespace croquis
