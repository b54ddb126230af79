#include <fmt/format.h>

#include <croquis/io/bytes.hpp>
#include <croquis/io/json.hpp>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/choice_groups.hpp>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

using nlohmann::json;

json number_or_null(const std::optional<std::uint64_t>& number) {
  return number ? json(*number) : json(nullptr);
}

// Reads the members of one choice; every complaint names the file and the choice.
class ChoiceReader {
 public:
  ChoiceReader(const json& choice, std::string where) : choice_(choice), where_(std::move(where)) {
    if (!choice.is_object()) refuse("is no object");
  }

  [[noreturn]] void refuse(const std::string& why) const { throw std::invalid_argument(where_ + " " + why); }

  // (layer, head) of all heads that the choice is for.
  std::vector<std::pair<arma::uword, arma::uword>> places(arma::uword layers, arma::uword heads) const {
    std::vector<std::pair<arma::uword, arma::uword>> places;
    if (const auto listed = choice_.find("heads"); listed != choice_.end()) {
      if (!listed->is_array()) refuse("has heads that are no array");
      if (listed->empty()) {
        refuse("was made for heads of no model; give it the heads to use it for: \"heads\": [[layer, head], ...]");
      }
      for (const json& place : *listed) {
        if (!place.is_array() || place.size() != 2) refuse("has a head that is no [layer, head]");
        places.emplace_back(number_in(place[0], "layer", layers), number_in(place[1], "head", heads));
      }
      return places;
    }
    for (const arma::uword l : numbers("layer", layers)) {
      for (const arma::uword h : numbers("head", heads)) places.emplace_back(l, h);
    }
    return places;
  }

  HeadMethod method() const {
    const json name = choice_.value("method", json());
    if (!name.is_string()) refuse("has no method");
    if (name == "exact") return {{"exact", {}, "paper"}, 0};
    const json features = choice_.value("features", json());
    if (!features.is_number_unsigned() || features == 0) refuse("has no positive number of features");
    std::string text = name.get<std::string>();
    const json options = choice_.value("options", json::object());
    if (!options.is_object()) refuse("has options that are no object");
    const char* separator = ":";
    for (const auto& [key, value] : options.items()) {
      if (!value.is_string()) refuse(fmt::format("has an option {} that is no text", key));
      text += fmt::format("{}{}={}", separator, key, value.get<std::string>());
      separator = ",";
    }
    std::vector<MethodChoice> methods = parse_methods(text, {}, where_ + ": method");
    if (methods.size() != 1) refuse(fmt::format("has no single method: '{}'", text));
    return {std::move(methods.front()), features.get<arma::uword>()};
  }

 private:
  // All numbers below `count` where the member is null.
  std::vector<arma::uword> numbers(const char* name, arma::uword count) const {
    const json value = choice_.value(name, json(nullptr));
    if (!value.is_null()) return {number_in(value, name, count)};
    std::vector<arma::uword> all(count);
    std::iota(all.begin(), all.end(), arma::uword{0});
    return all;
  }

  arma::uword number_in(const json& value, const char* name, arma::uword count) const {
    if (!value.is_number_unsigned()) refuse(fmt::format("has a {} that is no number and not null", name));
    const auto number = value.get<arma::uword>();
    if (number >= count) refuse(fmt::format("is for {} {}, the model has {}, from 0", name, number, count));
    return number;
  }

  const json& choice_;
  std::string where_;
};

}  // namespace

double followed_cost_ratio(const std::vector<ChoiceRow>& rows) {
  double cost = 0, exact_cost = 0;
  for (const ChoiceRow& row : rows) {
    cost += row.status == "chosen" ? row.cost : row.exact_cost;
    exact_cost += row.exact_cost;
  }
  return cost / exact_cost;
}

ChoicePlaces choice_places(const ChoiceInputs& inputs, ChoicePer per) {
  ChoicePlaces places;
  for (const ChoiceGroup& group : grouped_heads(inputs, per)) {
    auto& of_group = places[group.input];
    for (const std::size_t h : group.heads) {
      const ChoiceHead& head = inputs.heads[h];
      if (head.layer && head.head) of_group.emplace_back(*head.layer, *head.head);
    }
  }
  return places;
}

std::string choice_json(const std::vector<ChoiceRow>& rows, const std::optional<ChoicePlaces>& places) {
  json file = json::object();
  json choices = json::array();
  for (const ChoiceRow& row : rows) {
    const bool is_chosen = row.status == "chosen";
    choices.push_back({{"input", row.input},
                       {"layer", number_or_null(row.layer)},
                       {"head", number_or_null(row.head)},
                       {"status", row.status},
                       {"method", is_chosen ? row.method : "exact"},
                       {"options", is_chosen ? json(options_of_preset(row.preset)) : json::object()},
                       {"features", is_chosen ? row.features : 0}});
    if (places) choices.back()["heads"] = places->contains(row.input) ? json(places->at(row.input)) : json::array();
  }
  if (!rows.empty()) {
    const ChoiceRow& first = rows.front();
    file = {{"eps", first.eps},       {"delta", first.delta},         {"confidence", first.confidence},
            {"metric", first.metric}, {"cost_unit", first.cost_unit}, {"cost_ratio", followed_cost_ratio(rows)}};
  }
  file["choices"] = std::move(choices);
  return file.dump(2) + "\n";
}

Replacement read_choice(const std::string& path, arma::uword layers, arma::uword heads) {
  return parse_choice(read_bytes(path), path, layers, heads);
}

Replacement parse_choice(std::string_view bytes, const std::string& path, arma::uword layers, arma::uword heads) {
  const json file = parse_json_object(bytes, path, "is no file of croquis choose");
  const json choices = file.value("choices", json());
  if (!choices.is_array() || choices.empty()) {
    throw std::invalid_argument(path + ": is no file of croquis choose (it has no choices)");
  }
  Replacement replacement{
      .layers = "all", .method = "choice", .preset = std::filesystem::path(path).filename().string(), .features = 0};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const ChoiceReader reader(choices[i], fmt::format("{}: choice {}", path, i + 1));
    const HeadMethod method = reader.method();
    for (const auto& [l, h] : reader.places(layers, heads)) {
      if (replacement.heads.emplace(std::pair(l, h), method).second) continue;
      reader.refuse(fmt::format("is the second one for layer {}, head {}", l, h));
    }
  }
  return replacement;
}

}  // namespace croquis
