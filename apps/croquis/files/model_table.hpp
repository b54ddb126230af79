// Losses of a model as printed tables, and as groups that can be drawn.
#pragma once

#include <croquis/measure/groups.hpp>
#include <croquis/measure/model_summary.hpp>
#include <string>
#include <vector>

/// "rxnmapper, 1150 positions of 32 sequences, layers all": what the losses are of.
std::string subject_of_models(const std::vector<croquis::ModelSummary>& summaries);

/// Tables of loss, accuracy and agreement on standard output: mean (standard error between sequences) by method and d,
/// those of exact attention in the title.
void print_models(const std::vector<croquis::ModelSummary>& summaries);

/// A group for each summary but those of `exact`, labelled by method and, where they differ, layers. Its metrics are
/// those of the summary, with flops and seconds to draw against.
croquis::Grouping grouping_of_models(const std::vector<croquis::ModelSummary>& summaries);

/// Whether each row has one layer, and not all the same: a run with --layers each.
bool is_layer_by_layer(const std::vector<croquis::ModelSummary>& summaries);
