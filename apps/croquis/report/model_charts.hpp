// Charts of the losses of a model.
#pragma once

#include <croquis/measure/groups.hpp>
#include <croquis/measure/model_summary.hpp>
#include <string>
#include <vector>

#include "report/section.hpp"

/// Loss and other metrics of all methods against d, flops and seconds, with exact attention as a line across. A choice
/// has a cost and no d: against d it is a line across too.
Chart chart_of_losses(const croquis::Grouping& grouping, const std::vector<croquis::ModelSummary>& summaries,
                      const std::string& subject);

/// Of a run that approximates one layer at a time: the increase of the loss, and other metrics, over the layers. There
/// is a view for each d, the largest first.
Chart chart_by_layer(const std::vector<croquis::ModelSummary>& summaries, const std::string& subject);
