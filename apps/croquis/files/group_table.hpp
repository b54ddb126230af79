// Groups of rows as a printed table, and the words that say what the numbers of tables and plots are.
#pragma once

#include <croquis/measure/groups.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// What is shown of a sample.
enum class Statistic { mean, median };

/// Whether relative errors say that the method computes exact attention, as some do where d is large: it is no
/// approximation there. They have to say so in every draw (of several members, in every mean): what is exact in most
/// draws and fails or errs in one is an approximation.
bool is_exact(const croquis::Group& group, const std::string& metric);

/// Whether the metric is the mean squared error of random features, and far below its expectation where that is known:
/// what makes the expectation is too rare to have been drawn, and the number says nothing about it.
bool misses_its_tail(const croquis::Group& group, const std::string& metric);

/// The 95 % interval for the sample of rows (--rows) that belongs to the median or the mean of a metric: the medians or
/// means of its ends over the draws, of several members those of their means over the draws. Only some metrics have
/// one.
std::optional<std::pair<double, double>> rows_interval(const croquis::Group& group, const std::string& metric,
                                                       Statistic statistic);
bool has_rows_interval(const croquis::Grouping& grouping, const std::string& metric);
/// Whether one of the metrics has one.
bool has_rows_interval(const croquis::Grouping& grouping, const std::vector<std::string>& metrics);

/// The groups of a table as they are shown: several inputs together. Has the numbers of --rows too, where there are
/// some of this metric: `rows` and the ends of its intervals; and those of the columns in `also`. Two kinds of one name
/// have different labels.
croquis::Grouping shown_groups(const croquis::Table& table, const std::string& metric, std::set<std::string> also = {});

/// The groups of a table with its inputs one by one, as shown_groups() tells whether they are exact.
croquis::Grouping groups_of_inputs(const croquis::Table& table, const std::set<std::string>& also);

/// The values of these keys of a group, in their order.
std::vector<std::string> key_values_of(const croquis::Group& group, const std::vector<croquis::Column>& keys);

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

/// "20 draws", "7 repeats", "one draw".
std::string repetitions_of(const croquis::Grouping& grouping);

/// "median over 16 heads of the mean over 10 draws": what the numbers of a nested grouping are.
std::string nested_statistic(const croquis::Grouping& grouping, Statistic statistic);

/// "1 of 2 heads has no relative error, as what is approximated there is zero or rounding alone": what the numbers of a
/// relative metric leave out. Empty where they leave out no member.
std::string members_without(const croquis::Grouping& grouping, const std::string& metric);

/// The title of a table of print_groups(): `what`, the statistic and the subject.
std::string table_title(const std::string& what, const croquis::Grouping& grouping, const std::string& metric);

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
