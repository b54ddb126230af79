// The sentences of which answers about grouped rows are made. One that would say nothing is empty.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>
#include <vector>

#include "report/leads.hpp"

/// "0.0294 (0.021 – 0.041)", "0.0294 (0.021 – 0.041) [rows: 0.02, 0.05]".
std::string with_interval(const croquis::Group& group, const std::string& metric, bool nested);

/// What no sentence compares: the numbers that are left are of the luckier draws.
std::string failing_ones(const std::vector<const croquis::Group*>& groups, const InputGroups& inputs,
                         const std::string& metric, const std::string& symbol);

/// What candidates_of() leaves out.
std::string exact_ones(const std::vector<const croquis::Group*>& groups, const std::string& metric,
                       const std::string& symbol);

/// What may_lead() leaves out, of all sentences on these groups.
std::string not_counted(const std::vector<const croquis::Group*>& groups);

/// What is exact or fails mostly at another size may be better there.
std::string no_better_than_mean(const std::vector<const croquis::Group*>& groups, const std::string& metric);

/// Which has the smallest one at each size, where there are several.
std::string best_at_each_size(const std::vector<const croquis::Group*>& groups, const InputGroups& inputs,
                              const std::string& metric, const std::string& symbol);

/// The least flops with which a median, of a sample of rows the upper end of its interval, is within round errors, as
/// long as they are fewer than exact attention's. Where an interval is wide, a cheaper method may be within them too.
/// The median of draws of which some failed is larger than that of the others, and not known.
std::string within_errors(const std::vector<const croquis::Group*>& groups, const InputGroups& inputs,
                          const std::string& metric, const croquis::Grouping& shown);

/// Of several inputs, at the largest size. A lead that is not clear is none.
std::string how_often(const croquis::Grouping& single, const std::string& target, const std::string& metric,
                      const std::string& symbol);

/// Of random features: where the mean squared error says nothing.
std::string below_expectation(const croquis::Grouping& shown);
