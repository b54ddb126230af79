#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/choice_seconds.hpp>
#include <croquis/measure/choose.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calls.hpp"
#include "module.hpp"
#include "problems.hpp"
#include "rows.hpp"

namespace {

// All heads on every sequence: heads[s][h], and their shapes without padding.
struct Heads {
  std::vector<std::vector<HeadArguments>> heads;
  std::vector<std::vector<croquis::HeadShape>> shapes;
};

// Makes the problem, which checks the numbers: some sequences may never be drawn.
croquis::HeadShape shape_of(const HeadArguments& head, bool is_float) {
  const auto problem = head.problem<double>();
  if (is_float) croquis::in_precision<float>(problem);
  return {problem.n_q(), problem.n_k(), problem.p(), problem.p_v()};
}

// "sequence 7, head 2: ", without what there is one of.
std::string place_of(std::size_t s, std::size_t sequences, std::size_t h, std::size_t heads) {
  std::vector<std::string> place;
  if (sequences > 1) place.push_back(fmt::format("sequence {}", s));
  if (heads > 1) place.push_back(fmt::format("head {}", h));
  return place.empty() ? "" : fmt::format("{}: ", fmt::join(place, ", "));
}

// `options`: of the heads of each sequence. A message says which head is wrong.
Heads heads_of(const py::list& sequences, const py::list& options, bool is_float) {
  Heads all;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    all.heads.emplace_back();
    all.shapes.emplace_back();
    const auto heads = sequences[s].cast<py::list>();
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const auto qkv = heads[h].cast<py::tuple>();
      try {
        all.heads.back().emplace_back(qkv[0], qkv[1], qkv[2], options[s].cast<py::dict>());
        all.shapes.back().push_back(shape_of(all.heads.back().back(), is_float));
      } catch (const std::invalid_argument& wrong) {
        throw std::invalid_argument(place_of(s, sequences.size(), h, heads.size()) + wrong.what());
      }
    }
  }
  return all;
}

std::vector<croquis::HeadShape> different_shapes(const Heads& all) {
  std::vector<croquis::HeadShape> different;
  for (const auto& sequence : all.shapes) {
    for (const croquis::HeadShape& shape : sequence) {
      if (std::find(different.begin(), different.end(), shape) == different.end()) different.push_back(shape);
    }
  }
  return different;
}

// `all` has to outlive them.
croquis::ChoiceInputs inputs_of(const Heads& all, const std::string& name,
                                const std::vector<croquis::ChoiceHead>& names) {
  croquis::ChoiceInputs inputs;
  inputs.name = name;
  inputs.heads = names;
  for (std::size_t s = 0; s < all.heads.size(); ++s) inputs.sequences.push_back(s);
  inputs.problem = [&](std::size_t s, std::size_t h) {
    const py::gil_scoped_acquire lock;
    return all.heads[s][h].problem<double>();
  };
  inputs.shape = [&](std::size_t s, std::size_t h) { return all.shapes[s][h]; };
  return inputs;
}

template <typename T>
croquis::CandidateLadders candidates_of(const std::string& methods, const std::vector<arma::uword>& features,
                                        const croquis::ChoiceInputs& inputs,
                                        const std::vector<croquis::HeadShape>& shapes, croquis::PositionParts position,
                                        const croquis::ChoiceSettings& settings, Signals& signals) {
  const auto choices = methods == "all" ? croquis::usual_candidates(shapes, position)
                                        : croquis::parse_methods(methods, position, "methods");
  const bool time_heads = settings.cost == croquis::CostUnit::seconds && inputs.sequences.size() == 1;
  const auto candidates = croquis::choice_candidates<T>(choices, features, shapes, position,
                                                        time_heads ? croquis::CostUnit::flops : settings.cost);
  if (!time_heads) return candidates;
  const auto go_on = [&](std::uint64_t, std::uint64_t) { return !signals.stop_requested(); };
  const auto timed = croquis::timed_on_heads<T>(candidates, inputs, settings, {.go_on = go_on, .wanted = {}});
  if (!timed) throw croquis::Interrupted();
  return *timed;
}

template <typename T>
std::vector<croquis::ChoiceRow> chosen(const croquis::ChoiceInputs& inputs, const croquis::CandidateLadders& candidates,
                                       const croquis::ChoiceSettings& settings, std::uint64_t seed, Signals& signals) {
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

// `sequences`: a list of lists of (Q, K, V), the same heads in each; `head_options`: causal, bias and length of the
// heads of each sequence; `names`: (input, layer, head) of each head. The columns, and the text of choice.json.
py::tuple choose_heads(
    const py::list& sequences, const py::list& head_options,
    const std::vector<std::tuple<std::string, std::optional<std::uint64_t>, std::optional<std::uint64_t>>>& names,
    const std::string& name, bool causal, bool has_bias, const std::string& methods, const Features& given, double eps,
    double delta, double confidence, const std::string& metric, const std::string& per, const std::string& cost,
    double max_cost, const std::optional<std::uint64_t>& draws, const std::optional<arma::uword>& rows,
    std::uint64_t seed, const std::string& precision) {
  const Heads heads = heads_of(sequences, head_options, precision == "float");
  std::vector<croquis::ChoiceHead> head_names;
  for (const auto& [input, layer, head] : names) head_names.push_back({input, layer, head});
  const croquis::ChoiceInputs inputs = inputs_of(heads, name, head_names);
  const croquis::PositionParts position{.causal = causal, .bias = has_bias};
  const auto shapes = different_shapes(heads);
  const auto features = features_or_range(given, croquis::end_of_range(shapes));
  croquis::ChoiceSettings settings;
  settings.epsilon = eps;
  settings.delta = delta;
  settings.confidence = confidence;
  settings.metric = metric;
  settings.per = croquis::choice_per_from_name(per);
  settings.cost = croquis::cost_unit_from_name(cost);
  settings.max_cost = max_cost;
  settings.draws = draws.value_or(croquis::default_draws(heads.heads.size()));
  settings.rows = rows;
  const auto answer = call([&](Signals& signals) {
    const bool in_float = precision == "float";
    const auto candidates = in_float
                                ? candidates_of<float>(methods, features, inputs, shapes, position, settings, signals)
                                : candidates_of<double>(methods, features, inputs, shapes, position, settings, signals);
    return in_float ? chosen<float>(inputs, candidates, settings, seed, signals)
                    : chosen<double>(inputs, candidates, settings, seed, signals);
  });
  return py::make_tuple(columns_of(croquis::choice_columns(), answer),
                        croquis::choice_json(answer, croquis::choice_places(inputs, settings.per)));
}

// The columns of choose() that a choice.json has, and "heads": for each choice its (layer, head), or None. `path` is
// for messages.
py::dict read_choices(const py::bytes& bytes, const std::string& path) {
  std::vector<croquis::ChoiceRow> rows;
  py::list heads;
  for (const croquis::SavedChoice& choice : croquis::parse_saved_choices(std::string(bytes), path)) {
    rows.push_back(choice.row);
    heads.append(choice.heads ? py::object(py::tuple(py::cast(*choice.heads))) : py::none());
  }
  const py::dict all = columns_of(croquis::choice_columns(), rows);
  py::dict saved;
  for (const char* name : {"input", "layer", "head", "eps", "delta", "confidence", "metric", "method", "preset",
                           "features", "status", "cost_unit", "target", "flops_limit"}) {
    saved[name] = all[name];
  }
  saved["heads"] = heads;
  return saved;
}

}  // namespace

void add_choice(py::module_& module) {
  module.def("choose", &choose_heads);
  module.def("read_choices", &read_choices);
  module.def("options_of_preset", &croquis::options_of_preset);
  module.def("choice_metrics", &croquis::choice_metrics);
}
