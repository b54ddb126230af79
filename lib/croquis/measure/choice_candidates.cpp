#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/counted.hpp>
#include <croquis/core/require.hpp>
#include <croquis/measure/choice_candidates.hpp>
#include <croquis/measure/cost.hpp>
#include <croquis/measure/groups.hpp>
#include <croquis/random/normal_matrix.hpp>
#include <limits>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

// Any numbers of this shape.
template <typename T>
Problem<T> problem_of(const HeadShape& shape, PositionParts parts) {
  const Key key(1);
  RelativePosition<T> position{.bias = {}, .causal = parts.causal};
  if (parts.bias) position.bias.zeros(2 * std::max(shape.n_q, shape.n_k) - 1);
  return Problem<T>(normal_matrix<T>(key.child("query"), shape.n_q, shape.p),
                    normal_matrix<T>(key.child("key"), shape.n_k, shape.p),
                    normal_matrix<T>(key.child("value"), shape.n_k, shape.p_v), {}, std::move(position));
}

// From flops to seconds.
void scale(std::vector<double>& costs, std::vector<double>& rates, std::size_t measured, double seconds) {
  const double rate = seconds / costs[measured];
  for (double& cost : costs) cost *= rate;
  for (double& each : rates) each = rate;
}

Target common_target(const std::vector<MethodChoice>& methods) {
  const Target target = find_method<double>(methods.front().name).target;
  for (const MethodChoice& choice : methods) {
    const Target other = find_method<double>(choice.name).target;
    if (other == target) continue;
    throw std::invalid_argument(fmt::format(
        "methods: {} approximates {} attention and {} {} attention, two functions that a model does not exchange; "
        "choose among those of one",
        methods.front().name, name_of(target), choice.name, name_of(other)));
  }
  return target;
}

// The candidates of a method with their flops; `problems` have the shapes.
template <typename T>
std::vector<ChoiceCandidate> ladder_of(const MethodChoice& choice, const std::vector<arma::uword>& descending,
                                       const std::vector<HeadShape>& shapes, const std::vector<Problem<T>>& problems) {
  std::vector<PreparedMethod<T>> prepared;
  prepared.reserve(problems.size());
  for (const Problem<T>& problem : problems) {
    prepared.push_back(prepare(find_method<T>(choice.name), problem, choice.options));
  }
  std::vector<ChoiceCandidate> ladder;
  for (const arma::uword d : descending) {
    const auto taken = [&](const HeadShape& shape) { return takes(choice, d, {shape.n_q, shape.n_k}); };
    if (std::none_of(shapes.begin(), shapes.end(), taken)) continue;
    ChoiceCandidate candidate{
        .choice = choice, .features = d, .costs = {}, .rates = std::vector<double>(shapes.size(), 1.0)};
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      candidate.costs.push_back(taken(shapes[s]) ? prepared[s].flops(static_cast<double>(d))
                                                 : std::numeric_limits<double>::infinity());
    }
    // What is a candidate must not depend on the lengths of sequences.
    if (shapes.size() == 1 && !ladder.empty() && candidate.costs == ladder.back().costs) continue;
    ladder.push_back(std::move(candidate));
  }
  return ladder;
}

arma::uword keys_of_longest(const std::vector<HeadShape>& shapes) {
  return std::max_element(shapes.begin(), shapes.end(),
                          [](const HeadShape& a, const HeadShape& b) { return a.n_k < b.n_k; })
      ->n_k;
}

}  // namespace

CostUnit cost_unit_from_name(const std::string& name) {
  require(name == "flops" || name == "seconds", "cost", "is flops or seconds", {{"cost", name}});
  return name == "flops" ? CostUnit::flops : CostUnit::seconds;
}

std::size_t CandidateLadders::number_of(const HeadShape& shape, std::size_t head) const {
  constexpr const char* rule = "candidates for the shapes of all heads";
  if (!shape_of_head.empty()) {
    require(head < shape_of_head.size() && shapes[shape_of_head[head]] == shape, "choose", rule);
    return shape_of_head[head];
  }
  const auto found = std::find(shapes.begin(), shapes.end(), shape);
  require(found != shapes.end(), "choose", rule);
  return static_cast<std::size_t>(found - shapes.begin());
}

std::size_t CandidateLadders::timed_shape(const std::vector<double>& costs) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (std::isfinite(costs[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return shapes[a].n_k < shapes[b].n_k; });
  return order[order.size() / 2];
}

template <typename T>
CandidateLadders choice_candidates(const std::vector<MethodChoice>& methods, const std::vector<arma::uword>& features,
                                   const std::vector<HeadShape>& shapes, PositionParts position, CostUnit unit,
                                   std::uint64_t repeats) {
  require(!methods.empty() && !features.empty() && !shapes.empty(), "choice_candidates",
          "at least one method, one number of features and one head");
  CandidateLadders result;
  result.target = common_target(methods);
  result.methods = methods.size();
  result.shapes = shapes;
  std::vector<Problem<T>> problems;
  for (const HeadShape& shape : shapes) {
    require_usable(methods, {shape.n_q, shape.n_k}, position);
    problems.push_back(problem_of<T>(shape, position));
    result.exact_costs.push_back(exact_flops({shape.n_q, shape.n_k}, shape.p, shape.p_v, position.causal));
  }
  result.exact_rates.assign(shapes.size(), 1.0);
  const std::vector<double> flops_of_exact = result.exact_costs;
  if (unit == CostUnit::seconds) {
    const std::size_t middle = result.timed_shape(result.exact_costs);
    scale(result.exact_costs, result.exact_rates, middle,
          call_seconds(problems[middle], exact_candidate(result.target), 0, repeats));
  }
  std::vector<arma::uword> descending = features;
  std::sort(descending.rbegin(), descending.rend());
  for (const MethodChoice& choice : methods) {
    if (find_method<double>(choice.name).quadratic(choice.options)) {
      throw std::invalid_argument(
          fmt::format("methods: {} computes all scores, as exact attention does, whatever d is; leave it out",
                      curve_label({choice.name, choice.preset})));
    }
    std::vector<ChoiceCandidate> ladder = ladder_of(choice, descending, shapes, problems);
    if (unit == CostUnit::seconds) {
      for (ChoiceCandidate& candidate : ladder) {
        const CostCandidate timed{.choice = choice};
        const std::vector<double> flops = candidate.costs;
        const std::size_t middle = result.timed_shape(flops);
        scale(candidate.costs, candidate.rates, middle,
              call_seconds(problems[middle], timed, candidate.features, repeats));
        // What computes exact attention costs as much, whatever the clock says.
        for (std::size_t s = 0; s < shapes.size(); ++s) {
          if (flops[s] != flops_of_exact[s]) continue;
          candidate.costs[s] = result.exact_costs[s];
          candidate.rates[s] = result.exact_rates[s];
        }
      }
    }
    if (!ladder.empty()) result.ladders.push_back(std::move(ladder));
  }
  if (result.ladders.empty()) {
    throw std::invalid_argument(fmt::format("features: no method takes {} for heads of {}; give smaller ones",
                                            fmt::join(features, ", "), counted(keys_of_longest(shapes), "token")));
  }
  return result;
}

arma::uword end_of_range(const std::vector<HeadShape>& shapes) {
  require(!shapes.empty(), "end_of_range", "at least one shape");
  const bool one = std::all_of(shapes.begin(), shapes.end(), [&](const HeadShape& s) { return s == shapes.front(); });
  return one ? shapes.front().n_k : std::numeric_limits<arma::uword>::max();
}

std::vector<MethodChoice> usual_candidates(const std::vector<HeadShape>& shapes, PositionParts position) {
  const Target target = position.bias ? Target::softmax_rpe : Target::softmax;
  return parse_methods("all", position, "methods", [&](const Method<double>& method) {
    return method.target == target && !method.quadratic({}) &&
           std::all_of(shapes.begin(), shapes.end(), [&](const HeadShape& s) {
             return takes(method, {s.n_q, s.n_k});
           });
  });
}

template CandidateLadders choice_candidates<float>(const std::vector<MethodChoice>&, const std::vector<arma::uword>&,
                                                   const std::vector<HeadShape>&, PositionParts, CostUnit,
                                                   std::uint64_t);
template CandidateLadders choice_candidates<double>(const std::vector<MethodChoice>&, const std::vector<arma::uword>&,
                                                    const std::vector<HeadShape>&, PositionParts, CostUnit,
                                                    std::uint64_t);

}  // namespace croquis
