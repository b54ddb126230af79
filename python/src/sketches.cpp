#include <fmt/format.h>
#include <pybind11/stl.h>

#include <charconv>
#include <croquis/core/choices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <croquis/random/key.hpp>
#include <croquis/sketch/description.hpp>
#include <croquis/sketch/distributions.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "arrays.hpp"
#include "calls.hpp"
#include "module.hpp"

namespace {

using croquis::SketchDescription;

// The same, once it is known that there is such a sketch; making one is cheap but where millions of places are drawn.
// Most have a key, or an index and an entry, for each feature; no product with another fits where these would not.
SketchDescription checked(SketchDescription description) {
  croquis::require_memory(static_cast<double>(description.cols) * sizeof(croquis::Key), "features",
                          {{"features", description.cols}});
  call([&](Signals&) { croquis::make_sketch<double>(description); });
  return description;
}

// The draw of `croquis sketch` with that seed and trial. `text` is "name" or "name:parameter=value,...".
SketchDescription describe(const std::string& text, arma::uword rows, arma::uword features, std::uint64_t seed,
                           std::uint64_t trial, const std::vector<double>& weights) {
  std::vector<std::string> known;
  for (const auto& distribution : croquis::sketch_distributions<double>()) known.push_back(distribution.name);
  const auto choices = croquis::parse_choices(text, "name", known);
  if (choices.size() != 1) throw std::invalid_argument("name: give one");
  std::map<std::string, double> parameters;
  for (const auto& [name, value] : choices[0].options) {
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, parameters[name]);
    if (error != std::errc{} || end != last) {
      throw std::invalid_argument(fmt::format("sketch: {}={} is no number", name, value));
    }
  }
  return checked(croquis::describe_sketch(choices[0].name, rows, features,
                                          croquis::sketch_key(seed, "operator", choices[0].label, features, trial),
                                          parameters, weights));
}

// The axis of a matrix along which a product sums, and its size.
struct Axis {
  py::ssize_t number;
  arma::uword size;
};

// Throws std::invalid_argument unless there is memory for rows x cols entries of so many bytes.
void require_entries(const std::string& what, arma::uword rows, arma::uword cols, std::size_t bytes) {
  croquis::require_memory(static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(bytes), what,
                          {{"rows", rows}, {"columns", cols}});
}

// product(sketch, matrix) in the precision of the argument. `size`: that of the result along the axis.
template <typename Product>
py::array product_with(const SketchDescription& description, const py::object& argument, Axis axis, arma::uword size,
                       const Product& product) {
  const std::string wanted = axis.number == 0 ? fmt::format("({}, k)", axis.size) : fmt::format("(k, {})", axis.size);
  const py::array array = matrix_argument(argument, "M", wanted);
  if (static_cast<arma::uword>(array.shape(axis.number)) != axis.size) {
    throw std::invalid_argument(fmt::format("M: its shape is {}; give {}", shape_of(array), wanted));
  }
  const auto compute = [&]<typename T>(T) {
    const auto other = static_cast<arma::uword>(array.shape(1 - axis.number));
    require_entries("M: its product", axis.number == 0 ? size : other, axis.number == 0 ? other : size, sizeof(T));
    const arma::Mat<T> matrix = matrix_of<T>(array);
    auto result = call([&](Signals&) { return product(croquis::make_sketch<T>(description), matrix); });
    return array_of<T>(std::move(result), are_fortran({array}));
  };
  return are_float({array}) ? compute(float{}) : compute(double{});
}

py::array dense(const SketchDescription& description, bool is_float) {
  const auto compute = [&]<typename T>(T) {
    require_entries("dense: rows x features", description.rows, description.cols, 2 * sizeof(T));
    auto matrix = call([&](Signals&) { return croquis::make_sketch<T>(description).template dense<T>(); });
    return array_of<T>(std::move(matrix), false);
  };
  return is_float ? compute(float{}) : compute(double{});
}

py::list sketches() {
  py::list list;
  for (const auto& distribution : croquis::sketch_distributions<double>()) {
    py::list parameters;
    for (const auto& p : distribution.parameters) {
      parameters.append(py::make_tuple(p.name, p.range, p.default_value, p.effect));
    }
    py::dict entry;
    entry["name"] = distribution.name;
    entry["source"] = distribution.source;
    entry["target"] = "E[S S^T] = I";  // of every distribution: it is what the library calls a sketch
    entry["options"] = parameters;
    entry["doc"] = distribution.summary;
    entry["weighted"] = distribution.weighted;
    list.append(entry);
  }
  return list;
}

}  // namespace

void add_sketches(py::module_& module) {
  py::class_<SketchDescription>(module, "Sketch")
      .def(py::init(&describe))
      .def(py::init([](const std::string& json) { return checked(SketchDescription::from_json(json)); }))
      .def("to_json", &SketchDescription::to_json)
      .def_readonly("distribution", &SketchDescription::distribution)
      .def_readonly("rows", &SketchDescription::rows)
      .def_readonly("features", &SketchDescription::cols)
      .def("left",
           [](const SketchDescription& d, const py::object& m) {
             return product_with(d, m, {0, d.rows}, d.cols,
                                 [](const auto& sketch, const auto& matrix) { return sketch.left(matrix); });
           })
      .def("right",
           [](const SketchDescription& d, const py::object& m) {
             return product_with(d, m, {1, d.rows}, d.cols,
                                 [](const auto& sketch, const auto& matrix) { return sketch.right(matrix); });
           })
      .def("expand",
           [](const SketchDescription& d, const py::object& m) {
             return product_with(d, m, {0, d.cols}, d.rows,
                                 [](const auto& sketch, const auto& matrix) { return sketch.expand(matrix); });
           })
      .def("dense", &dense);
  module.def("sketches", &sketches);
}
