// What exact attention costs on the inputs of a result: the leading terms of the operation count, as for methods.
#pragma once

#include <croquis/measure/groups.hpp>
#include <croquis/measure/model_summary.hpp>
#include <vector>

/// NaN where inputs of several sizes are together, or where there are no sizes.
double exact_flops_of(const croquis::Group& group, bool causal);

/// The same of all groups that have flops; NaN where they differ.
double exact_flops_of(const croquis::Grouping& grouping);

/// Of a model, the mean over its sequences; NaN where failed passes leave some methods with other sequences than
/// others.
double exact_flops_of(const std::vector<croquis::ModelSummary>& summaries);
