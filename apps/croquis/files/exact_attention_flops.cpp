#include "files/exact_attention_flops.hpp"

#include <algorithm>
#include <croquis/measure/cost.hpp>
#include <limits>
#include <string>

#include "files/group_table.hpp"
#include "options/lists.hpp"

using croquis::Group;

double exact_flops_of(const Group& group, bool causal) {
  const auto size = [&](const char* name) {
    const auto found = group.key.find(name);
    return found == group.key.end() ? 0 : static_cast<arma::uword>(parse_number(found->second).value_or(0));
  };
  const arma::uword n = size("n"), n_q = size("n_q");
  const double flops = croquis::exact_flops({n_q > 0 ? n_q : n, n}, size("p"), size("p_v"), causal);
  return flops > 0 ? flops : std::numeric_limits<double>::quiet_NaN();
}

double exact_flops_of(const croquis::Grouping& grouping) {
  const bool causal = is_causal(grouping);
  const std::vector<std::string> inputs = inputs_of(grouping);
  if (!causal &&
      std::any_of(inputs.begin(), inputs.end(), [](const auto& name) { return name.ends_with(";causal"); })) {
    return std::numeric_limits<double>::quiet_NaN();  // some are, and some are not
  }
  double common = std::numeric_limits<double>::quiet_NaN();
  bool any = false;
  for (const Group& group : grouping.groups) {
    if (group.metric("flops") == nullptr) continue;
    const double flops = exact_flops_of(group, causal);
    if (any && flops != common) return std::numeric_limits<double>::quiet_NaN();
    common = flops;
    any = true;
  }
  return common;
}

double exact_flops_of(const std::vector<croquis::ModelSummary>& summaries) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const croquis::ModelSummary& s : summaries) {
    const double flops = s.flops / s.flops_ratio;  // NaN where all passes failed
    if (!(flops > 0)) continue;
    least = std::min(least, flops);
    most = std::max(most, flops);
  }
  constexpr double rounding = 1 + 1e-9;
  return most > 0 && most <= rounding * least ? most : std::numeric_limits<double>::quiet_NaN();
}
