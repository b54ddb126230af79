// Sentences about the losses of a model.
#pragma once

#include <croquis/measure/model_summary.hpp>
#include <string>
#include <vector>

/// For each d the method with the smallest loss, and over which others it has no clear lead on the same sequences; what
/// a choice has. `rows` are those that the summaries are of.
std::vector<std::string> answers_of_models(const std::vector<croquis::ModelSummary>& summaries,
                                           const std::vector<croquis::ModelRow>& rows);

/// Of a run that approximates one layer at a time: for each method, at its largest d, which layer raises the loss most
/// and which least, and in which layers the rise is within two standard errors of zero; and what a choice has. `rows`
/// are those that the summaries are of.
std::vector<std::string> answers_by_layer(const std::vector<croquis::ModelSummary>& summaries,
                                          const std::vector<croquis::ModelRow>& rows);
