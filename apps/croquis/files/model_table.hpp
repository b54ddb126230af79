// Losses of a model as printed tables, and as groups that can be drawn.
#pragma once

#include <croquis/measure/groups.hpp>
#include <croquis/measure/model_summary.hpp>
#include <optional>
#include <string>
#include <vector>

/// "rxnmapper, 1150 positions of 32 sequences, layers all": what the losses are of.
std::string subject_of_models(const std::vector<croquis::ModelSummary>& summaries);

/// The metric with exact attention; NaN where that is not known, or nothing to compare with.
double metric_of_exact(const std::vector<croquis::ModelSummary>& summaries, const std::string& metric);

/// Tables on standard output by method and d, of loss (standard error between sequences), its increase (standard error
/// of the differences), accuracy, error of the last hidden state and flops; what exact attention has in the title.
void print_models(const std::vector<croquis::ModelSummary>& summaries);

/// A group for each summary but those of `exact`, labelled by method and, where they differ, layers. Its metrics are
/// those of the summary, with flops and seconds to draw against.
croquis::Grouping grouping_of_models(const std::vector<croquis::ModelSummary>& summaries);

/// Whether some method has a standard error: on one sequence none has.
bool has_errors(const std::vector<croquis::ModelSummary>& summaries);

/// The layer of a summary of one layer; nothing of others.
std::optional<double> layer_of(const croquis::ModelSummary& summary);

/// Whether each row has one layer, and not all the same: a run with --layers each.
bool is_layer_by_layer(const std::vector<croquis::ModelSummary>& summaries);
