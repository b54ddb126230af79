#include <pybind11/stl.h>

#include <croquis/attention/exact.hpp>
#include <croquis/attention/method_choice.hpp>
#include <croquis/measure/method_errors.hpp>
#include <map>
#include <string>

#include "calls.hpp"
#include "module.hpp"
#include "problems.hpp"

namespace {

using Options = std::map<std::string, std::string>;

py::array exact(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
                const std::string& target) {
  const HeadArguments head(q, k, v, head_options);
  const croquis::Target chosen = croquis::target_named(target);
  return visit_problem(head, [&](const auto& problem) {
    auto output = call([&](Signals&) { return problem.padded(exact_attention(problem, chosen).output); });
    return array_of(std::move(output), head.is_fortran());
  });
}

py::array approximate(const py::object& q, const py::object& k, const py::object& v, const py::dict& head_options,
                      const std::string& method, const Options& options, arma::uword features, std::uint64_t seed,
                      std::uint64_t trial) {
  const HeadArguments head(q, k, v, head_options);
  return visit_problem(head, [&]<typename T>(const croquis::Problem<T>& problem) {
    auto output = call([&](Signals&) {
      const auto prepared = prepare(croquis::find_method<T>(method), problem, croquis::OptionValues(options));
      const croquis::Key key = croquis::error_keys(seed, "arrays").draw(method, features, trial);
      return problem.padded(prepared.approximate(features, key).output);
    });
    return array_of(std::move(output), head.is_fortran());
  });
}

py::list methods() {
  py::list list;
  for (const auto& method : croquis::methods<double>()) {
    py::list options;
    for (const auto& option : method.options) {
      options.append(py::make_tuple(option.name, option.values, option.default_value, option.effect));
    }
    py::dict entry;
    entry["name"] = method.name;
    entry["source"] = method.source;
    entry["target"] = std::string(name_of(method.target));
    entry["options"] = options;
    entry["doc"] = method.summary;
    entry["random"] = method.random({});
    entry["causal"] = method.causal;
    entry["rectangular"] = method.rectangular({});
    list.append(entry);
  }
  return list;
}

}  // namespace

void add_attention(py::module_& module) {
  module.def("exact", &exact);
  module.def("approximate", &approximate);
  module.def("methods", &methods);
}
