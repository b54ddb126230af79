#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/core/choices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/peak_memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/stopwatch.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/measure/cost.hpp>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace croquis {
namespace {

// A call with its preparation, which is part of what a single problem costs, and the call alone.
struct TimedCall {
  std::function<void()> prepare, call;
  double flops = CostRow::kUndefined;
};

template <typename T>
TimedCall exact_call(const Problem<T>& problem, Target target) {
  return {[] {}, [&problem, target] { exact_attention(problem, target); },
          exact_flops(problem.tokens(), problem.p(), problem.p_v(), problem.is_causal())};
}

template <typename T>
TimedCall method_call(const Problem<T>& problem, const MethodChoice& choice, arma::uword d, const Key& key) {
  const Method<T>& method = find_method<T>(choice.name);
  const auto prepared = std::make_shared<PreparedMethod<T>>(prepare(method, problem, choice.options));
  const double flops = prepared->flops(static_cast<double>(d));
  return {[prepared, &method, &choice, &problem] { *prepared = prepare(method, problem, choice.options); },
          [prepared, d, key] { prepared->approximate(d, key); }, flops};
}

// Sets what is measured of the rows, one for each repeat.
void measure(const TimedCall& timed, std::uint64_t warmup, std::vector<CostRow>& rows) {
  // The first call of a process also brings code and threads into memory, which no later one does.
  std::uint64_t warmed = 0;
  if (warmup > 0) timed.call(), ++warmed;
  const double peak = peak_bytes_of([&] {
    timed.prepare();
    timed.call();
  });
  for (CostRow& row : rows) row.peak_bytes = peak;
  for (; warmed < warmup; ++warmed) timed.call();
  for (CostRow& row : rows) {
    const Stopwatch stopwatch;
    timed.prepare();
    timed.call();
    row.seconds = stopwatch.seconds();
  }
}

double median_seconds(const std::vector<CostRow>& rows) {
  std::vector<double> seconds;
  for (const CostRow& row : rows) {
    if (row.status != "ok") throw std::runtime_error(row.status);
    seconds.push_back(row.seconds);
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

double exact_flops(TokenAlignment tokens, arma::uword p, arma::uword p_v, bool causal) {
  const auto queries = static_cast<double>(tokens.n_q), keys = static_cast<double>(tokens.n_k);
  const double pairs = causal ? queries * (keys - queries) + queries * (queries + 1) / 2 : queries * keys;
  return pairs * pair_flops(static_cast<double>(p), static_cast<double>(p_v));
}

const Columns<CostRow>& cost_columns() {
  static const Columns<CostRow> columns = {
      {{"input", Role::subject,
        "`gaussian`; with `--bias`, `;bias=` and the bias follow, and with `--causal`, `;causal`. `exact` is "
        "timed without the bias; with `--causal` all are causal"},
       &CostRow::input},
      {{"method", Role::curve,
        "the method that is called. `exact` is softmax attention. When a method has another target, the matching exact "
        "attention is timed too: `exact-kernelized`, and with a bias `exact-softmax-rpe` and `exact-normalized-rpe`"},
       &CostRow::method},
      {{"preset", Role::curve,
        "the preset: `paper`, or `code` for what the authors' program does. Other options follow it "
        "(`paper;ridge=0.1`)"},
       &CostRow::preset},
      {{"n", Role::axis, "number of tokens"}, &CostRow::n},
      {{"p", Role::subject, "width of queries and keys"}, &CostRow::p},
      {{"p_v", Role::subject, "width of values"}, &CostRow::p_v},
      {{"features", Role::axis, "the number of features d; 0 for exact attention", "d"}, &CostRow::features},
      {{"repeat", Role::part,
        "the number of the call, from 1. Calls are made one after the other, each with all threads"},
       &CostRow::repeat},
      {{"seed", Role::note, "`--seed`"}, &CostRow::seed},
      {{"precision", Role::subject, "`float` or `double`"}, &CostRow::precision},
      {{"threads", Role::subject, "the number of threads of a call"}, &CostRow::threads},
      {{"seconds", Role::metric, "the time of preparation and call, after warm-up", "time of a call", "s"},
       &CostRow::seconds},
      {{"peak_bytes", Role::metric,
        "the rise of resident memory above its level before the call, as the kernel counts it. The input is not "
        "included",
        "peak memory of a call", "bytes"},
       &CostRow::peak_bytes},
      {{"flops", Role::metric, "the leading terms that the method declares, as in `croquis error`"}, &CostRow::flops},
      {{"status", Role::note, "`ok`, or the reason of a failure"}, &CostRow::status}};
  return columns;
}

CostCandidate exact_candidate(Target target) {
  const std::string name = target == Target::softmax ? "exact" : "exact-" + std::string(name_of(target));
  return {{name, {}, "paper"}, target};
}

std::vector<CostCandidate> cost_candidates(const std::vector<MethodChoice>& methods, bool with_position) {
  std::vector<CostCandidate> candidates = {exact_candidate(Target::softmax)};
  for (const Target target : {Target::kernelized, Target::softmax_rpe, Target::normalized_rpe}) {
    if (has_position(target) && !with_position) continue;
    const bool wanted = std::any_of(methods.begin(), methods.end(), [target](const MethodChoice& m) {
      return find_method<double>(m.name).target == target;
    });
    if (wanted) candidates.push_back(exact_candidate(target));
  }
  for (const MethodChoice& m : methods) candidates.push_back({m});
  return candidates;
}

std::vector<CostCandidate> cost_candidates(const std::string& methods, TokenAlignment shape, PositionParts position,
                                           const std::string& where) {
  std::vector<MethodChoice> choices;
  if (methods != "exact") {
    for (const std::string& item : split_list(methods, where)) {
      if (!item.starts_with("exact")) continue;
      throw std::invalid_argument(
          fmt::format("{}: '{}' is no method, exact attention is timed beside them; leave it out, or give exact alone",
                      where, item));
    }
    choices = parse_methods(methods, position, where, [shape](const Method<double>& method) {
      return method.name != "best-rank-d" && takes(method, shape);
    });
  }
  if (methods == "exact" && position.bias) require_takes_bias(Target::softmax, methods);
  require_usable(choices, shape, position);
  return cost_candidates(choices, position.bias);
}

std::vector<MethodChoice> methods_among(const std::vector<CostCandidate>& candidates) {
  std::vector<MethodChoice> methods;
  for (const CostCandidate& candidate : candidates) {
    if (!candidate.exact) methods.push_back(candidate.choice);
  }
  return methods;
}

template <typename T>
std::vector<CostRow> call_costs(const Problem<T>& problem, const CostCandidate& candidate, arma::uword d,
                                const Key& key, const CostSettings& settings) {
  require(settings.repeats >= 1, "call_costs", "repeats >= 1", {{"repeats", settings.repeats}});
  CostRow common;
  common.method = candidate.choice.name;
  common.preset = candidate.choice.preset;
  common.n = problem.n_k();
  common.p = problem.p();
  common.p_v = problem.p_v();
  common.features = d;
  common.precision = std::is_same_v<T, float> ? "float" : "double";
  common.threads = static_cast<std::uint64_t>(threads());
  std::vector<CostRow> rows(settings.repeats, common);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].repeat = i + 1;
  try {
    const TimedCall timed =
        candidate.exact ? exact_call(problem, *candidate.exact) : method_call(problem, candidate.choice, d, key);
    for (CostRow& row : rows) row.flops = timed.flops;
    measure(timed, settings.warmup, rows);
  } catch (const std::exception& failure) {
    for (CostRow& row : rows) row.status = reason_of(failure);
  }
  return rows;
}

// Five short calls are over within one interruption by other work, so as many follow as fill the time in which few
// interruptions cannot reach the median.
template <typename T>
double call_seconds(const Problem<T>& problem, const CostCandidate& candidate, arma::uword d, std::uint64_t repeats) {
  constexpr double least_time = 0.02;  // s
  const Key key(1);
  const double seconds = median_seconds(call_costs(problem, candidate, d, key, {repeats, 1}));
  if (seconds * static_cast<double>(repeats) >= least_time) return seconds;
  constexpr double most_calls = 1000;
  const auto more = static_cast<std::uint64_t>(std::min(most_calls, std::ceil(least_time / seconds)));
  return median_seconds(call_costs(problem, candidate, d, key, {more, 0}));
}

std::vector<Growth> growth_of_time(const Grouping& grouping) {
  require(grouping.axis.name == "n", "growth_of_time", "groups over n",
          {{"axis", std::string_view(grouping.axis.name)}});
  constexpr std::size_t minimum_sizes = 3;
  struct Curve {
    std::vector<double> n, seconds;
  };
  std::vector<std::string> labels;
  std::map<std::string, Curve> curves;
  for (const Group& group : grouping.groups) {
    const Summary* const seconds = group.metric("seconds");
    if (seconds == nullptr) continue;
    const auto [slot, added] = curves.try_emplace(group.label);
    if (added) labels.push_back(group.label);
    slot->second.n.push_back(static_cast<double>(group.x));
    slot->second.seconds.push_back(seconds->q50);
  }
  std::vector<Growth> growth;
  for (const std::string& label : labels) {
    const Curve& curve = curves.at(label);
    if (curve.n.size() >= minimum_sizes) growth.push_back({label, fit_power_law(curve.n, curve.seconds)});
  }
  return growth;
}

template std::vector<CostRow> call_costs(const Problem<float>&, const CostCandidate&, arma::uword, const Key&,
                                         const CostSettings&);
template std::vector<CostRow> call_costs(const Problem<double>&, const CostCandidate&, arma::uword, const Key&,
                                         const CostSettings&);

template double call_seconds(const Problem<float>&, const CostCandidate&, arma::uword, std::uint64_t);
template double call_seconds(const Problem<double>&, const CostCandidate&, arma::uword, std::uint64_t);

}  // namespace croquis
