#include <pybind11/stl.h>

#include <algorithm>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/choose.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calls.hpp"
#include "module.hpp"
#include "problems.hpp"
#include "rows.hpp"

namespace {

// All heads on every sequence: heads[s][h].
using Heads = std::vector<std::vector<HeadArguments>>;

Heads heads_of(const py::list& sequences, const py::dict& head_options) {
  Heads heads;
  for (const py::handle sequence : sequences) {
    heads.emplace_back();
    for (const py::handle head : sequence) {
      const auto qkv = head.cast<py::tuple>();
      heads.back().emplace_back(qkv[0], qkv[1], qkv[2], head_options);
    }
  }
  return heads;
}

croquis::HeadShape shape_of(const HeadArguments& head) {
  return {head.n_q(), head.n_k(), head.p(), head.p_v()};
}

std::vector<croquis::HeadShape> shapes_of(const Heads& heads) {
  std::vector<croquis::HeadShape> shapes;
  for (const auto& sequence : heads) {
    for (const HeadArguments& head : sequence) {
      const croquis::HeadShape shape = shape_of(head);
      if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
    }
  }
  return shapes;
}

// `heads` has to outlive them.
croquis::ChoiceInputs inputs_of(const Heads& heads, const std::string& name,
                                const std::vector<croquis::ChoiceHead>& names, bool causal) {
  croquis::ChoiceInputs inputs;
  inputs.name = name;
  inputs.heads = names;
  for (std::size_t s = 0; s < heads.size(); ++s) inputs.sequences.push_back(s);
  inputs.problem = [&](std::size_t s, std::size_t h) {
    const py::gil_scoped_acquire lock;
    return heads[s][h].problem<double>();
  };
  inputs.shape = [&](std::size_t s, std::size_t h) { return shape_of(heads[s][h]); };
  inputs.causal = causal;
  return inputs;
}

template <typename T>
std::vector<croquis::ChoiceRow> chosen(const croquis::ChoiceInputs& inputs,
                                       const std::vector<croquis::HeadShape>& shapes, const std::string& methods,
                                       const std::vector<arma::uword>& features,
                                       const croquis::ChoiceSettings& settings, std::uint64_t seed, Signals& signals) {
  const auto choices = methods == "all" ? croquis::usual_candidates(shapes, inputs.causal)
                                        : croquis::parse_methods(methods, inputs.causal, "methods");
  const auto candidates =
      croquis::choice_candidates<T>(choices, features, shapes, inputs.has_bias, inputs.causal, settings.cost);
  croquis::ChoiceHooks hooks;
  hooks.stop = [&] { return signals.stop_requested(); };
  auto rows = croquis::choose<T>(inputs, candidates, settings, croquis::Key(seed).child("choose"), hooks);
  if (!rows) throw croquis::Interrupted();
  for (croquis::ChoiceRow& row : *rows) {
    row.seed = seed;
    row.precision = sizeof(T) == sizeof(float) ? "float" : "double";
  }
  return *rows;
}

// `sequences`: a list of lists of (Q, K, V), the same heads in each; `names`: (input, layer, head) of each head.
// The columns, and the text of choice.json.
py::tuple choose_heads(
    const py::list& sequences,
    const std::vector<std::tuple<std::string, std::optional<std::uint64_t>, std::optional<std::uint64_t>>>& names,
    const std::string& name, bool causal, const std::string& methods, const std::vector<arma::uword>& features,
    double eps, double delta, double confidence, const std::string& metric, const std::string& per,
    const std::string& cost, double max_cost, const std::optional<std::uint64_t>& draws,
    const std::optional<arma::uword>& rows, std::uint64_t seed, const std::string& precision) {
  py::dict head_options;
  head_options["causal"] = causal;
  head_options["bias"] = py::none();
  head_options["length"] = py::none();
  const Heads heads = heads_of(sequences, head_options);
  std::vector<croquis::ChoiceHead> head_names;
  for (const auto& [input, layer, head] : names) head_names.push_back({input, layer, head});
  const croquis::ChoiceInputs inputs = inputs_of(heads, name, head_names, causal);
  const auto shapes = shapes_of(heads);
  croquis::ChoiceSettings settings;
  settings.epsilon = eps;
  settings.delta = delta;
  settings.confidence = confidence;
  settings.metric = metric;
  settings.per = croquis::choice_per_from_name(per);
  settings.cost = croquis::cost_unit_from_name(cost);
  settings.max_cost = max_cost;
  settings.draws = draws.value_or(croquis::default_draws(heads.size()));
  settings.rows = rows;
  const auto answer = call([&](Signals& signals) {
    return precision == "float" ? chosen<float>(inputs, shapes, methods, features, settings, seed, signals)
                                : chosen<double>(inputs, shapes, methods, features, settings, seed, signals);
  });
  return py::make_tuple(columns_of(croquis::choice_columns(), answer), croquis::choice_json(answer));
}

}  // namespace

void add_choice(py::module_& module) {
  module.def("choose", &choose_heads);
  module.def("choice_metrics", &croquis::choice_metrics);
}
