// Sections of results whose rows are grouped by their columns: errors, gradients, sketches, variances, costs.
#pragma once

#include <croquis/measure/columns.hpp>
#include <string>
#include <vector>

#include "report/section.hpp"

/// What is particular to a command.
struct GroupsReport {
  std::string title;  ///< of its chart
  /// Metrics that answers are about, where the rows have them: the less the better.
  std::vector<std::string> answered = {};
  bool compared = true;  ///< false: its curves are of different problems, and none is the best
};

/// A chart of all metrics against d (or n), flops and seconds; views of medians and of means, and of each input where
/// there are several and not too many; maps over layers and heads; sentences about the best methods.
Section section_of_groups(const croquis::Table& table, const GroupsReport& how);

/// The same of `croquis cost`, whose answer is about time.
Section section_of_costs(const croquis::Table& table);
