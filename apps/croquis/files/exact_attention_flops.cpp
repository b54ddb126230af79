#include "files/exact_attention_flops.hpp"

#include <algorithm>
#include <cmath>
#include <croquis/measure/cost.hpp>
#include <limits>
#include <string>
#include <vector>

#include "files/group_words.hpp"
#include "files/number.hpp"

using croquis::Group;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// NaN where they differ by more than rounding, or one is NaN, or there is none.
double value_of_all(const std::vector<double>& values) {
  constexpr double rounding = 1e-9;
  const auto is_first = [&](double x) { return std::abs(x - values.front()) <= rounding * values.front(); };
  return !values.empty() && std::all_of(values.begin(), values.end(), is_first) ? values.front() : kNone;
}

}  // namespace

double exact_flops_of(const Group& group, bool causal) {
  const auto size = [&](const char* name) {
    const auto found = group.key.find(name);
    return found == group.key.end() ? 0 : static_cast<arma::uword>(parse_number(found->second).value_or(0));
  };
  const arma::uword n = size("n"), n_q = size("n_q");
  const double flops = croquis::exact_flops({n_q > 0 ? n_q : n, n}, size("p"), size("p_v"), causal);
  return flops > 0 ? flops : kNone;
}

double exact_flops_of(const croquis::Grouping& grouping) {
  const bool causal = is_causal(grouping);
  const std::vector<std::string> inputs = inputs_of(grouping);
  if (!causal && std::any_of(inputs.begin(), inputs.end(), [](const std::string& name) { return is_causal(name); })) {
    return kNone;  // some are, and some are not
  }
  std::vector<double> flops;
  for (const Group& group : grouping.groups) {
    if (group.metric("flops") != nullptr) flops.push_back(exact_flops_of(group, causal));
  }
  return value_of_all(flops);
}

double exact_flops_of(const std::vector<croquis::ModelSummary>& summaries) {
  std::vector<double> flops;
  for (const croquis::ModelSummary& s : summaries) {
    if (s.flops > 0) flops.push_back(s.flops / s.flops_ratio);  // it is NaN where all passes failed
  }
  return value_of_all(flops);
}
