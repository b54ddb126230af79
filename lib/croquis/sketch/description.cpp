#include <algorithm>
#include <cmath>
#include <croquis/core/choices.hpp>
#include <croquis/core/require.hpp>
#include <croquis/io/json.hpp>
#include <croquis/sketch/description.hpp>
#include <croquis/sketch/distributions.hpp>
#include <nlohmann/json.hpp>
#include <utility>

namespace croquis {
namespace {

using nlohmann::json;
constexpr std::string_view kFromJson = "SketchDescription::from_json";

std::string text_of(const json& object, const char* field) {
  require(object.contains(field) && object[field].is_string(), kFromJson, "a string in the field", {{"field", field}});
  return object[field].get<std::string>();
}

arma::uword size_of(const json& object, const char* field) {
  require(object.contains(field) && object[field].is_number_unsigned(), kFromJson, "a positive integer in the field",
          {{"field", field}});
  return object[field].get<arma::uword>();
}

double number_of(const json& value, const std::string& name) {
  require(value.is_number(), kFromJson, "a number for the parameter or weight", {{"name", name}});
  return value.get<double>();
}

}  // namespace

std::string SketchDescription::to_json() const {
  using Json = nlohmann::ordered_json;
  Json object = {
      {"distribution", distribution}, {"rows", rows}, {"cols", cols}, {"key", key}, {"parameters", Json::object()}};
  for (const auto& [name, value] : parameters) object["parameters"][name] = value;
  if (!weights.empty()) object["weights"] = weights;
  return object.dump();
}

SketchDescription SketchDescription::from_json(std::string_view text) {
  const json object = parse_json_object(text, std::string(kFromJson), "the text is refused");
  const auto known = {"distribution", "rows", "cols", "key", "parameters", "weights"};
  for (const auto& [field, value] : object.items()) {
    require(std::find(known.begin(), known.end(), field) != known.end(), kFromJson,
            "fields distribution, rows, cols, key, parameters, weights", {{"field", field}});
  }
  SketchDescription description;
  description.distribution = text_of(object, "distribution");
  description.rows = size_of(object, "rows");
  description.cols = size_of(object, "cols");
  description.key = text_of(object, "key");
  if (object.contains("parameters")) {
    require(object["parameters"].is_object(), kFromJson, "an object in the field", {{"field", "parameters"}});
    for (const auto& [name, value] : object["parameters"].items()) {
      description.parameters[name] = number_of(value, name);
    }
  }
  if (object.contains("weights")) {
    require(object["weights"].is_array(), kFromJson, "an array in the field", {{"field", "weights"}});
    for (const json& value : object["weights"]) description.weights.push_back(number_of(value, "weights"));
  }
  return completed(std::move(description));
}

SketchDescription completed(SketchDescription description) {
  const SketchDistribution<double>& distribution = find_sketch_distribution<double>(description.distribution);
  require(description.rows >= 1 && description.cols >= 1, distribution.name, "rows >= 1, cols >= 1",
          {{"rows", description.rows}, {"cols", description.cols}});
  Key::from_name(description.key);
  std::vector<std::string> known;
  for (const SketchParameter& parameter : distribution.parameters) known.push_back(parameter.name);
  for (const auto& [name, value] : description.parameters) require_option(name, distribution.name, known);
  for (const SketchParameter& parameter : distribution.parameters) {
    const ParameterLimits limits = parameter.limits(description.rows, description.cols);
    const double value = description.parameters.emplace(parameter.name, limits.default_value).first->second;
    require(value >= limits.minimum && value <= limits.maximum && (!limits.whole || value == std::floor(value)),
            distribution.name, parameter.name + (limits.whole ? " a whole number in " : " in ") + parameter.range,
            {{parameter.name, value}, {"rows", description.rows}, {"cols", description.cols}});
  }
  require(description.weights.size() == (distribution.weighted ? description.rows : 0), distribution.name,
          distribution.weighted ? "one weight a row" : "no weights for this distribution",
          {{"weights", description.weights.size()}, {"rows", description.rows}});
  const auto wrong = std::find_if_not(description.weights.begin(), description.weights.end(),
                                      [](double weight) { return std::isfinite(weight); });
  if (wrong != description.weights.end()) require(false, distribution.name, "finite weights", {{"weight", *wrong}});
  return description;
}

SketchDescription describe_sketch(std::string distribution, arma::uword rows, arma::uword cols, const Key& key,
                                  std::map<std::string, double> parameters, std::vector<double> weights) {
  return completed({std::move(distribution), rows, cols, key.name(), std::move(parameters), std::move(weights)});
}

template <typename T>
AnySketch<T> make_sketch(const SketchDescription& description) {
  const SketchDescription complete = completed(description);
  return find_sketch_distribution<T>(complete.distribution).make(complete, Key::from_name(complete.key));
}

template AnySketch<float> make_sketch(const SketchDescription&);
template AnySketch<double> make_sketch(const SketchDescription&);

}  // namespace croquis
