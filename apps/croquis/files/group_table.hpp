// Groups of rows as a printed table.
#pragma once

#include <croquis/measure/groups.hpp>
#include <functional>
#include <string>

#include "files/shown_groups.hpp"

/// A mark of one table alone, behind the cells of some groups, and the line below the table that says what it means.
struct GroupMark {
  std::string mark = {}, meaning = {};
  std::function<bool(const croquis::Group&)> is_for = {};
};

/// A table of labels by sizes on standard output. Of one input: mean (standard error) or median (10 % to 90 % quantile)
/// of a metric. Of several: the median over the inputs of their means (the smallest - the largest). Behind it, where
/// the rows have one, the interval for the sample of rows. A block for each target, with a line that says what it is.
/// Marks what is exact, what is heavy-tailed and what leaves out rows that failed, and by `own` what else, with a
/// footnote.
void print_groups(const std::string& title, const croquis::Grouping& grouping, const std::string& metric,
                  Statistic statistic = Statistic::mean, const GroupMark& own = {});
