// choice.json: the method that computes the attention of each head of a model.
#pragma once

#include <croquis/measure/choose.hpp>
#include <croquis/measure/model_loss.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace croquis {

/// The cost of all choices together, divided by that of exact attention. Heads without a choice use exact attention.
double followed_cost_ratio(const std::vector<ChoiceRow>& rows);

/// The heads of a model that each choice was made for, as (layer, head), by ChoiceRow::input.
using ChoicePlaces = std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>>;

/// The heads that the choices about `inputs` are made for. A head without a layer is in no model and is left out.
ChoicePlaces choice_places(const ChoiceInputs& inputs, ChoicePer per);

/// The answers as JSON: an object with the parameters (eps, delta, confidence, metric, cost_unit, rows), the
/// cost_ratio of all choices together, and "choices", an array of objects with input, layer, head (null for more than
/// one), heads, status, method, options (an object of strings), features, flops_limit and target. Heads without a
/// decision have exact attention to the target. "heads" lists the `places` as [layer, head]; without `places` it is
/// left out, and null means all layers or heads.
std::string choice_json(const std::vector<ChoiceRow>& rows, const std::optional<ChoicePlaces>& places);

/// A choice of a file.
struct SavedChoice {
  /// The members input, layer, head, status, method, preset, features, flops_limit and target of this choice, and eps,
  /// delta, confidence, metric and cost_unit, which all choices of the file share. What the file does not say is empty
  /// or NaN. The target is that of the method; for exact attention it is what the file says, or softmax. Other members
  /// are not set.
  ChoiceRow row;
  HeadMethod method;
  /// The heads that the choice was made for, as (layer, head); an empty list if they are in no model. Not set if the
  /// file does not list them: then row.layer and row.head say which heads these are, and an empty one means all.
  std::optional<std::vector<std::pair<std::uint64_t, std::uint64_t>>> heads;
};

/// The choices in the text of a file that choice_json() has written. No model is needed. `path` is used in messages.
/// Throws: std::invalid_argument, which names the file, if it is not such a file, for unknown methods and targets, and
///   for a choice with the status "undecided" and another method than exact.
std::vector<SavedChoice> parse_saved_choices(std::string_view bytes, const std::string& path);

/// The choices of the file `path`, as a replacement of the heads of a model, with the method "choice" and the name of
/// the file as preset. A choice is for its "heads"; where it has none, for its layer and head, null being all of them.
/// Heads that the file does not name are exact, and are not among the replaced ones. Exact attention in a model is the
/// model's own, whatever the target of the choice is.
/// Throws: std::invalid_argument, which names the file, for a choice that was made for heads of no model, for layers
///   and heads that the model does not have, and for a head that is chosen twice.
Replacement replacement_of(const std::vector<SavedChoice>& choices, const std::string& path, arma::uword layers,
                           arma::uword heads);

}  // namespace croquis
