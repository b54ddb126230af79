#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/sketch/description.hpp>
#include <croquis/sketch/laws.hpp>
#include <nlohmann/json.hpp>
#include <utility>

namespace croquis {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kFromJson = "SketchDescription::from_json", kCompleted = "SketchDescription";

std::string text_of(const Json& object, const char* key) {
  require(object.contains(key) && object[key].is_string(), kFromJson, "a string for the key", {{"key", key}});
  return object[key].get<std::string>();
}

arma::uword size_of(const Json& object, const char* key) {
  require(object.contains(key) && object[key].is_number_unsigned(), kFromJson, "a positive integer for the key",
          {{"key", key}});
  return object[key].get<arma::uword>();
}

double number_of(const Json& value, const std::string& name) {
  require(value.is_number(), kFromJson, "a number for the parameter or weight", {{"name", name}});
  return value.get<double>();
}

}  // namespace

std::string SketchDescription::to_json() const {
  Json object = {{"law", law}, {"rows", rows}, {"cols", cols}, {"stream", stream}, {"parameters", Json::object()}};
  for (const auto& [name, value] : parameters) object["parameters"][name] = value;
  if (!weights.empty()) object["weights"] = weights;
  return object.dump();
}

SketchDescription SketchDescription::from_json(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);  // no exceptions: a discarded value instead
  require(!object.is_discarded(), kFromJson, "valid JSON", {{"characters", text.size()}});
  require(object.is_object(), kFromJson, "a JSON object", {{"type", object.type_name()}});
  for (const auto& [key, value] : object.items()) {
    require(
        key == "law" || key == "rows" || key == "cols" || key == "stream" || key == "parameters" || key == "weights",
        kFromJson, "keys law, rows, cols, stream, parameters, weights", {{"key", key}});
  }
  SketchDescription description;
  description.law = text_of(object, "law");
  description.rows = size_of(object, "rows");
  description.cols = size_of(object, "cols");
  description.stream = text_of(object, "stream");
  if (object.contains("parameters")) {
    require(object["parameters"].is_object(), kFromJson, "an object for the key", {{"key", "parameters"}});
    for (const auto& [name, value] : object["parameters"].items()) {
      description.parameters[name] = number_of(value, name);
    }
  }
  if (object.contains("weights")) {
    require(object["weights"].is_array(), kFromJson, "an array for the key", {{"key", "weights"}});
    for (const Json& value : object["weights"]) description.weights.push_back(number_of(value, "weights"));
  }
  return completed(std::move(description));
}

SketchDescription completed(SketchDescription description) {
  const SketchLaw<double>& law = find_sketch_law<double>(description.law);
  require(description.rows >= 1 && description.cols >= 1, kCompleted, "rows >= 1, cols >= 1",
          {{"rows", description.rows}, {"cols", description.cols}});
  Stream::from_name(description.stream);
  for (const auto& [name, value] : description.parameters) {
    const bool known = std::any_of(law.parameters.begin(), law.parameters.end(),
                                   [&name = name](const SketchParameter& parameter) { return parameter.name == name; });
    require(known, kCompleted, "a parameter of the law", {{"law", law.name}, {"parameter", name}});
  }
  for (const SketchParameter& parameter : law.parameters) {
    const ParameterLimits limits = parameter.limits(description.rows, description.cols);
    const double value = description.parameters.emplace(parameter.name, limits.fallback).first->second;
    require(value >= limits.least && value <= limits.most && (!limits.whole || value == std::floor(value)), kCompleted,
            parameter.name + (limits.whole ? " a whole number in " : " in ") + parameter.range,
            {{parameter.name, value}, {"rows", description.rows}, {"cols", description.cols}});
  }
  require(description.weights.size() == (law.weighted ? description.rows : 0), kCompleted,
          law.weighted ? "one weight a row" : "no weights for this law",
          {{"law", law.name}, {"weights", description.weights.size()}, {"rows", description.rows}});
  return description;
}

SketchDescription describe_sketch(std::string law, arma::uword rows, arma::uword cols, const Stream& stream,
                                  std::map<std::string, double> parameters, std::vector<double> weights) {
  return completed({std::move(law), rows, cols, stream.name(), std::move(parameters), std::move(weights)});
}

template <typename T>
AnySketch<T> make_sketch(const SketchDescription& description) {
  const SketchDescription complete = completed(description);
  return find_sketch_law<T>(complete.law).make(complete, Stream::from_name(complete.stream));
}

template AnySketch<float> make_sketch(const SketchDescription&);
template AnySketch<double> make_sketch(const SketchDescription&);

}  // namespace croquis
