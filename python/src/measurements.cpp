#include <pybind11/stl.h>

#include <algorithm>
#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem_precision.hpp>
#include <croquis/claims/claim_rows.hpp>
#include <croquis/measure/choose.hpp>
#include <croquis/measure/cost.hpp>
#include <croquis/measure/dimension.hpp>
#include <croquis/measure/error_arguments.hpp>
#include <croquis/measure/gradient_errors.hpp>
#include <croquis/measure/method_errors.hpp>
#include <croquis/measure/spectra.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "calls.hpp"
#include "module.hpp"
#include "problems.hpp"
#include "rows.hpp"

namespace {

struct ErrorRequest {
  std::string methods;
  Features features;
  std::uint64_t trials, seed;
  croquis::ErrorSettings settings;
  bool is_float;
  std::string name;
};

std::set<std::string> error_options(const croquis::ErrorSettings& settings) {
  std::set<std::string> options;
  if (settings.rows) options.insert("--rows");
  if (settings.scores) options.insert("--scores");
  if (settings.row_errors) options.insert("--row-errors");
  if (settings.bounds) options.insert("--bounds");
  return options;
}

template <typename T>
std::vector<croquis::ErrorRow> error_rows(const croquis::Problem<double>& problem, const ErrorRequest& request) {
  const auto choices = croquis::error_methods(request.methods, {problem.tokens()}, parts_of(problem.position()),
                                              request.settings.rows.has_value(), "methods");
  const auto features = features_or_range(request.features, croquis::largest_features(choices, {problem.tokens()}));
  croquis::require_features(features, choices, problem.tokens(), sizeof(T), "features");
  if (request.settings.rows) croquis::require_sampled_rows(*request.settings.rows, problem.n_q(), "rows");
  auto rows = croquis::method_errors(croquis::in_precision<T>(problem), choices, features, request.trials,
                                     croquis::error_keys(request.seed, "arrays"), request.settings);
  for (croquis::ErrorRow& row : rows) {
    row.input = request.name;
    row.seed = request.seed;
    row.precision = request.is_float ? "float" : "double";
  }
  return rows;
}

py::dict error(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
               const std::string& methods, const Features& features, std::uint64_t trials, std::uint64_t seed,
               const std::string& precision, const std::optional<arma::uword>& rows, bool scores, bool row_errors,
               bool bounds, const std::string& name) {
  const HeadArguments head(q, k, v, head_options);
  const auto problem = head.problem<double>();
  const ErrorRequest request{methods,
                             features,
                             trials,
                             seed,
                             {.rows = rows, .scores = scores, .row_errors = row_errors, .bounds = bounds},
                             precision == "float",
                             name};
  const auto measured = call([&](Signals&) {
    return request.is_float ? error_rows<float>(problem, request) : error_rows<double>(problem, request);
  });
  return columns_of(croquis::error_columns(), measured, error_options(request.settings));
}

template <typename T>
std::vector<croquis::GradientRow> gradient_rows(const croquis::Problem<double>& problem, const std::string& methods,
                                                const Features& given, std::uint64_t trials, std::uint64_t seed) {
  const auto choices = croquis::gradient_methods(methods, {problem.tokens()}, parts_of(problem.position()), "methods");
  const auto features = features_or_range(given, croquis::largest_features(choices, {problem.tokens()}));
  croquis::require_features(features, choices, problem.tokens(), sizeof(T), "features");
  return croquis::gradient_errors(croquis::in_precision<T>(problem), choices, features, trials,
                                  croquis::gradient_key(seed, "arrays"));
}

py::dict gradient(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
                  const std::string& methods, const Features& features, std::uint64_t trials, std::uint64_t seed,
                  const std::string& precision, const std::string& name) {
  const HeadArguments head(q, k, v, head_options);
  const auto problem = head.problem<double>();
  auto rows = call([&](Signals&) {
    return precision == "float" ? gradient_rows<float>(problem, methods, features, trials, seed)
                                : gradient_rows<double>(problem, methods, features, trials, seed);
  });
  for (croquis::GradientRow& row : rows) {
    row.input = name;
    row.seed = seed;
    row.precision = precision;
  }
  return columns_of(croquis::gradient_columns(), rows);
}

template <typename T>
std::vector<croquis::CostRow> cost_rows(const croquis::Problem<double>& head, const std::string& methods,
                                        const Features& given, std::uint64_t seed,
                                        const croquis::CostSettings& settings) {
  const auto candidates = croquis::cost_candidates(methods, head.tokens(), parts_of(head.position()), "methods");
  const auto choices = methods_among(candidates);
  constexpr arma::uword usual = 64;
  const auto features =
      given.value_or(std::vector{std::min(usual, croquis::largest_features(choices, {head.tokens()}))});
  croquis::require_features(features, choices, head.tokens(), sizeof(T), "features");
  const auto problem = croquis::in_precision<T>(head);
  std::vector<croquis::CostRow> rows;
  for (const croquis::CostCandidate& candidate : candidates) {
    for (const arma::uword d : candidate.exact ? std::vector<arma::uword>{0} : features) {
      const auto calls = call_costs(problem, candidate, d, croquis::Key(seed).child("cost"), settings);
      rows.insert(rows.end(), calls.begin(), calls.end());
    }
  }
  return rows;
}

py::dict cost(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
              const std::string& methods, const Features& features, std::uint64_t repeats, std::uint64_t warmup,
              std::uint64_t seed, const std::string& precision, const std::string& name) {
  const HeadArguments head(q, k, v, head_options);
  const auto problem = head.problem<double>();
  auto rows = call([&](Signals&) {
    return precision == "float" ? cost_rows<float>(problem, methods, features, seed, {repeats, warmup})
                                : cost_rows<double>(problem, methods, features, seed, {repeats, warmup});
  });
  for (croquis::CostRow& row : rows) {
    row.input = name;
    row.seed = seed;
  }
  return columns_of(croquis::cost_columns(), rows);
}

croquis::SpectrumSettings spectrum_settings(const std::string& method, arma::uword leading, int probes) {
  return {croquis::spectrum_method_named(method), leading, probes};
}

py::dict spectrum(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
                  const std::vector<std::string>& matrices, const std::string& method, arma::uword leading, int probes,
                  std::uint64_t seed, const std::string& name) {
  const HeadArguments head(q, k, v, head_options);
  const auto problem = head.problem<double>();
  const auto settings = spectrum_settings(method, leading, probes);
  std::vector<croquis::SpectrumRow> rows;
  for (const std::string& matrix : matrices) {
    for (croquis::SpectrumRow& row : call([&](Signals&) {
           return matrix_spectrum(problem, matrix, croquis::spectrum_key(seed, "arrays"), settings);
         })) {
      row.input = name;
      row.seed = seed;
      rows.push_back(std::move(row));
    }
  }
  return columns_of(croquis::spectrum_columns(), rows);
}

py::dict dimension(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
                   const std::vector<double>& epsilons, const std::vector<double>& widths, double delta,
                   std::uint64_t trials, const std::string& method, arma::uword leading, int probes, std::uint64_t seed,
                   const std::string& name) {
  const HeadArguments head(q, k, v, head_options);
  const auto problem = head.problem<double>();
  std::vector<croquis::DimensionRow> rows;
  for (const double width : widths) {
    for (croquis::DimensionRow& row : call([&](Signals& signals) {
           const croquis::DimensionSettings settings{epsilons, delta, trials,
                                                     spectrum_settings(method, leading, probes),
                                                     [&] { return signals.stop_requested(); }};
           auto measured = lift_dimensions(problem, width, croquis::dimension_key(seed, "arrays"), settings);
           if (signals.stop_requested()) throw croquis::Interrupted();
           return measured;
         })) {
      row.input = name;
      row.seed = seed;
      rows.push_back(std::move(row));
    }
  }
  return columns_of(croquis::dimension_columns(), rows);
}

py::list columns(const std::string& of) {
  if (of == "error") return described(croquis::error_columns().all());
  if (of == "gradient") return described(croquis::gradient_columns().all());
  if (of == "cost") return described(croquis::cost_columns().all());
  if (of == "spectrum") return described(croquis::spectrum_columns().all());
  if (of == "dimension") return described(croquis::dimension_columns().all());
  if (of == "choose") return described(croquis::choice_columns().all());
  if (of == "verify") return described(croquis::claims::claim_columns().all());
  throw std::invalid_argument("columns: of error, gradient, cost, spectrum, dimension, choose or verify");
}

}  // namespace

void add_measurements(py::module_& module) {
  module.def("error", &error);
  module.def("gradient", &gradient);
  module.def("cost", &cost);
  module.def("spectrum", &spectrum);
  module.def("spectrum_matrices", &croquis::spectrum_matrices);
  module.def("dimension", &dimension);
  module.def("columns", &columns);
}
