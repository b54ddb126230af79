// The words that say what the numbers of tables and plots are, and what they were measured on.
#pragma once

#include <croquis/measure/groups.hpp>
#include <string>
#include <vector>

#include "files/shown_groups.hpp"

/// What the groups were measured on: "text:sample, n = 1024, p = 64", "8 heads on 2 sequences, n = 512, p = 64, 256 of
/// 512 rows, causal attention".
std::string subject_of(const croquis::Grouping& grouping);

/// Whether its members are heads on several sequences, between whose means the standard error then is.
bool is_of_sequences(const croquis::Grouping& grouping);

/// The names of its inputs.
std::vector<std::string> inputs_of(const croquis::Grouping& grouping);

/// Whether the name of an input is that of causal attention.
bool is_causal(const std::string& input);

/// Whether its inputs are those of causal attention.
bool is_causal(const croquis::Grouping& grouping);

/// Whether its numbers are means over the positions of sequences, as those of a model's loss: its members are these.
bool is_of_positions(const croquis::Grouping& grouping);

/// " on these rows", said of standard errors, where errors are from a sample of rows: all draws, methods and heads
/// share the sample, so that their differences do not show what another one would give. Empty where all rows were
/// measured.
std::string where_errors_hold(const croquis::Grouping& grouping);

/// "20 draws", "7 repeats", "one draw"; "5 to 20 draws" of rows of several results.
std::string repetitions_of(const croquis::Grouping& grouping);

/// "median over 16 heads of the mean over 10 draws": what the numbers of a nested grouping are.
std::string nested_statistic(const croquis::Grouping& grouping, Statistic statistic);

/// "1 of 2 heads has no relative error, as what is approximated there is zero or rounding alone": what the numbers of a
/// relative metric leave out. Empty where they leave out no member.
std::string members_without(const croquis::Grouping& grouping, const std::string& metric);

/// "not compared with the others, as they are not of all 2 heads: informer at d = 16": what has no rows of some
/// members, whether they failed or not, as in rows of several results. Empty where there is none.
std::string on_fewer_members(const croquis::Grouping& grouping);

/// The title of a table of print_groups(): `what`, the statistic and the subject.
std::string table_title(const std::string& what, const croquis::Grouping& grouping, const std::string& metric);
