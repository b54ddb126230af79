#include <pybind11/stl.h>

#include <croquis/attention/method.hpp>

#include "forward.hpp"
#include "module.hpp"

namespace {

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
    entry["vjp"] = method.adjoint({});
    list.append(entry);
  }
  return list;
}

}  // namespace

void add_attention(py::module_& module) {
  py::class_<ForwardRequest>(module, "Request")
      .def(py::init<std::optional<std::string>, std::optional<std::string>, std::map<std::string, std::string>,
                    std::optional<arma::uword>, std::uint64_t, std::uint64_t>());
  py::class_<Forward>(module, "Forward")
      .def(py::init<const py::object&, const py::object&, const py::object&, const py::dict&, const ForwardRequest&,
                    bool>())
      .def("output", &Forward::output)
      .def("vjp", &Forward::vjp);
  module.def("methods", &methods);
}
