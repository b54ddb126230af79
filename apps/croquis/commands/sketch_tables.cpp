#include "commands/sketch_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/measure/groups.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "files/group_table.hpp"
#include "files/group_words.hpp"

using croquis::Group;
using croquis::Grouping;

namespace {

// An operator and a policy may have one name.
Grouping groups_of_kind(const croquis::Table& table, const std::string& kind) {
  croquis::Table rows{table.columns, {}};
  std::copy_if(table.rows.begin(), table.rows.end(), std::back_inserter(rows.rows),
               [&, column = table.column("kind")](const auto& row) { return croquis::text_of(row[column]) == kind; });
  return shown_groups(rows, "");
}

// That a basis spans; heads may have different ranks.
std::string directions_of(const std::vector<croquis::SketchRow>& rows) {
  std::set<std::uint64_t> ranks;
  for (const croquis::SketchRow& row : rows) ranks.insert(row.rank);
  return ranks.size() == 1 ? fmt::format("the leading {} directions", *ranks.begin())
                           : "the leading directions, as many as the column rank says";
}

// Of what is measured of some matrices only, such as a product: nothing, where no row has it.
void print_measured(const std::string& title, const Grouping& grouping, const std::string& metric) {
  const bool measured = std::any_of(grouping.groups.begin(), grouping.groups.end(),
                                    [&](const Group& g) { return g.metric(metric) != nullptr; });
  if (measured) print_groups(title, grouping, metric);
}

void print_operators(const Grouping& operators, const std::string& directions, bool of_head) {
  print_groups("| ||S^T x||^2 / ||x||^2 - 1 |, mean over the columns x", operators, "norm_error");
  print_groups("injectivity: smallest singular value of S^T U, U spanning " + directions, operators, "injectivity");
  print_groups("dilation: largest singular value of S^T U", operators, "dilation");
  print_measured(of_head ? "||BV - B S S^T V|| / ||BV||" : "||A^T B - A^T S S^T B|| / ||A^T B||", operators,
                 "product_spectral_rel");
}

void print_landmarks(const Grouping& landmarks, const std::string& matrix, bool of_head) {
  const std::string of = of_head ? "the lift M" : fmt::format("M = {}", matrix);
  const std::string spectral = fmt::format("Nystrom on {}, by landmarks: ||M - M~|| / ||M||", of);
  if (of_head) {
    print_groups(spectral, landmarks, "nystrom_spectral_rel");
    return;
  }
  print_measured(spectral, landmarks, "nystrom_spectral_rel");
  print_groups(fmt::format("Nystrom on {}, by landmarks: trace(M - M~) / trace(M)", of), landmarks,
               "nystrom_trace_rel");
}

}  // namespace

void print_sketch_tables(const croquis::Table& table) {
  const std::vector<croquis::SketchRow> rows = croquis::sketch_columns().rows(table);
  const croquis::SketchRow& first = rows.front();
  const Grouping grouping = shown_groups(table, "");
  const bool of_head = std::set<std::string>{"q", "k", "v", "b", "c"}.contains(first.matrix);
  if (grouping.is_nested()) {
    fmt::print("\n{}\n", table_title("operators and landmark policies", grouping, ""));
  } else {
    fmt::print("\n{}, {} of {} x {}; means of {} (standard error)\n", first.input, first.matrix, first.n, first.cols,
               croquis::counted(grouping.draws, "trial"));
  }
  print_operators(groups_of_kind(table, "operator"), directions_of(rows), of_head);
  print_landmarks(groups_of_kind(table, "landmarks"), first.matrix, of_head);
}
