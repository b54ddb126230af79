#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/io/json.hpp>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/choice_groups.hpp>
#include <filesystem>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

using nlohmann::json;

using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

json number_or_null(const std::optional<std::uint64_t>& number) {
  return number ? json(*number) : json(nullptr);
}

// Reads the members of a file or of one of its choices; every complaint begins with `where`.
class MemberReader {
 public:
  MemberReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[noreturn]] void refuse(const std::string& why) const { throw std::invalid_argument(where_ + " " + why); }

  // Empty where there is none.
  std::string text(const char* name) const {
    const json value = object_.value(name, json(""));
    if (!value.is_string()) refuse(fmt::format("has no text as its {}", name));
    return value.get<std::string>();
  }

  // NaN where there is none, and for null.
  double number(const char* name) const {
    const json value = object_.value(name, json(nullptr));
    if (value.is_null()) return ChoiceRow::kUndefined;
    if (!value.is_number()) refuse(fmt::format("has no number as its {}", name));
    return value.get<double>();
  }

  // Of a layer or a head; empty where there is none, and for null.
  std::optional<std::uint64_t> index(const char* name) const {
    const json value = object_.value(name, json(nullptr));
    return value.is_null() ? std::nullopt : std::optional(index_in(value, name));
  }

  std::optional<Places> heads() const {
    const auto listed = object_.find("heads");
    if (listed == object_.end()) return {};
    if (!listed->is_array()) refuse("has heads that are no array");
    Places places;
    for (const json& place : *listed) {
      if (!place.is_array() || place.size() != 2) refuse("has a head that is no [layer, head]");
      places.emplace_back(index_in(place[0], "layer"), index_in(place[1], "head"));
    }
    return places;
  }

  HeadMethod method() const {
    const json name = object_.value("method", json());
    if (!name.is_string()) refuse("has no method");
    if (name == "exact") return {{"exact", {}, "paper"}, 0};
    const json features = object_.value("features", json());
    if (!features.is_number_unsigned() || features == 0) refuse("has no positive number of features");
    std::string text = name.get<std::string>();
    const json options = object_.value("options", json::object());
    if (!options.is_object()) refuse("has options that are no object");
    const char* separator = ":";
    for (const auto& [key, value] : options.items()) {
      if (!value.is_string()) refuse(fmt::format("has an option {} that is no text", key));
      text += fmt::format("{}{}={}", separator, key, value.get<std::string>());
      separator = ",";
    }
    std::vector<MethodChoice> methods = parse_methods(text, {}, where_ + ": method");
    if (methods.size() != 1) refuse(fmt::format("has no single method: '{}'", text));
    const double limit = number("flops_limit");
    return {std::move(methods.front()), features.get<arma::uword>(),
            std::isnan(limit) ? std::numeric_limits<double>::infinity() : limit};
  }

  // A method has its own; of exact attention it is what the file says, softmax if it says nothing.
  std::string target_of(const MethodChoice& choice) const {
    if (!is_exact(choice)) return std::string(name_of(find_method<double>(choice.name).target));
    const std::string name = text("target");
    try {
      return std::string(name_of(name.empty() ? Target::softmax : target_named(name)));
    } catch (const std::invalid_argument& wrong) {
      throw std::invalid_argument(fmt::format("{}: {}", where_, wrong.what()));
    }
  }

 private:
  std::uint64_t index_in(const json& value, const char* name) const {
    if (!value.is_number_unsigned()) refuse(fmt::format("has a {} that is no number and not null", name));
    return value.get<std::uint64_t>();
  }

  const json& object_;
  std::string where_;
};

std::string place_of(const std::string& path, std::size_t index) {
  return fmt::format("{}: choice {}", path, index + 1);
}

// `row` has what all choices of the file share.
SavedChoice saved_choice(const json& choice, ChoiceRow row, const std::string& where) {
  const MemberReader reader(choice, where);
  if (!choice.is_object()) reader.refuse("is no object");
  SavedChoice saved{.row = std::move(row), .method = reader.method(), .heads = reader.heads()};
  saved.row.input = reader.text("input");
  saved.row.layer = reader.index("layer");
  saved.row.head = reader.index("head");
  saved.row.status = reader.text("status");
  saved.row.method = saved.method.choice.name;
  saved.row.preset = saved.method.choice.preset;
  saved.row.features = saved.method.features;
  saved.row.target = reader.target_of(saved.method.choice);
  saved.row.flops_limit = saved.method.flops_limit.value_or(ChoiceRow::kUndefined);
  if (saved.row.status == "undecided" && saved.row.method != "exact") {
    reader.refuse("is undecided and has a method; change its status to use it, or the method to exact");
  }
  return saved;
}

// The index alone, or all below `count`.
std::vector<std::uint64_t> those(const std::optional<std::uint64_t>& index, std::uint64_t count) {
  if (index) return {*index};
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

Places places_of(const SavedChoice& choice, std::uint64_t layers, std::uint64_t heads) {
  if (choice.heads) return *choice.heads;
  Places places;
  for (const std::uint64_t l : those(choice.row.layer, layers)) {
    for (const std::uint64_t h : those(choice.row.head, heads)) places.emplace_back(l, h);
  }
  return places;
}

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
    choices.push_back(
        {{"input", row.input},
         {"layer", number_or_null(row.layer)},
         {"head", number_or_null(row.head)},
         {"status", row.status},
         {"method", is_chosen ? row.method : "exact"},
         {"options", is_chosen ? json(options_of_preset(row.preset)) : json::object()},
         {"features", is_chosen ? row.features : 0},
         {"flops_limit", is_chosen && std::isfinite(row.flops_limit) ? json(row.flops_limit) : json(nullptr)},
         {"target", row.target}});
    if (places) choices.back()["heads"] = places->contains(row.input) ? json(places->at(row.input)) : json::array();
  }
  if (!rows.empty()) {
    const ChoiceRow& first = rows.front();
    file = {{"eps", first.eps},
            {"delta", first.delta},
            {"confidence", first.confidence},
            {"metric", first.metric},
            {"cost_unit", first.cost_unit},
            {"cost_ratio", followed_cost_ratio(rows)},
            {"rows", number_or_null(first.rows)}};
  }
  file["choices"] = std::move(choices);
  return json_text(file, 2) + "\n";
}

std::vector<SavedChoice> parse_saved_choices(std::string_view bytes, const std::string& path) {
  const json file = parse_json_object(bytes, path, "is no file of croquis choose");
  const json choices = file.value("choices", json());
  if (!choices.is_array() || choices.empty()) {
    throw std::invalid_argument(path + ": is no file of croquis choose (it has no choices)");
  }
  const MemberReader reader(file, path + ":");
  ChoiceRow shared;
  shared.eps = reader.number("eps");
  shared.delta = reader.number("delta");
  shared.confidence = reader.number("confidence");
  shared.metric = reader.text("metric");
  shared.cost_unit = reader.text("cost_unit");
  std::vector<SavedChoice> saved;
  for (std::size_t i = 0; i < choices.size(); ++i) saved.push_back(saved_choice(choices[i], shared, place_of(path, i)));
  return saved;
}

Replacement replacement_of(const std::vector<SavedChoice>& choices, const std::string& path, arma::uword layers,
                           arma::uword heads) {
  Replacement replacement{
      .layers = "all", .method = "choice", .preset = std::filesystem::path(path).filename().string(), .features = 0};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto refuse = [&](const std::string& why) {
      throw std::invalid_argument(fmt::format("{} {}", place_of(path, i), why));
    };
    const Places places = places_of(choices[i], layers, heads);
    if (places.empty()) {
      refuse("was made for heads of no model; give it the heads to use it for: \"heads\": [[layer, head], ...]");
    }
    for (const auto& [l, h] : places) {
      if (l >= layers) refuse(fmt::format("is for layer {}, the model has {}, from 0", l, layers));
      if (h >= heads) refuse(fmt::format("is for head {}, the model has {}, from 0", h, heads));
      if (replacement.heads.emplace(std::pair(l, h), choices[i].method).second) continue;
      refuse(fmt::format("is the second one for layer {}, head {}", l, h));
    }
  }
  return replacement;
}

}  // namespace croquis
