// Lines of a title of curves: what they are to be compared with, and what is not drawn.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>
#include <vector>

#include "files/shown_groups.hpp"
#include "pictures/curve.hpp"

/// Whose function is approximated, where there is a target, and what the order of a long legend is. Rows with a column
/// `target` have errors against it; times and losses of several functions can be compared. `several`: there are curves
/// of more than one target.
std::string target_line(const croquis::Grouping& grouping, const std::vector<Curve>& curves, bool several);

/// Of guarantees, exactness, means below their expectation, inputs without the metric, and where curves stop or are
/// missing. What does not apply is empty.
std::vector<std::string> notes_on(const croquis::Grouping& grouping, const std::string& metric, Statistic statistic,
                                  const std::vector<Curve>& curves, bool linear);
