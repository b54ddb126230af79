// choice.json: the method that computes the attention of each head of a model.
#pragma once

#include <croquis/measure/choose.hpp>
#include <croquis/measure/model_loss.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The cost of all choices together, divided by that of exact attention. Heads without a choice use exact attention.
double followed_cost_ratio(const std::vector<ChoiceRow>& rows);

/// The answers as JSON: an object with the parameters (eps, delta, confidence, metric, cost_unit), the cost_ratio of
/// all choices together, and "choices", an array of objects with input, layer, head (null for all of them), status,
/// method, options (an object of strings) and features. Heads without a decision have exact attention.
std::string choice_json(const std::vector<ChoiceRow>& rows);

/// The choices of a file, as a replacement of the heads of a model, with the method "choice" and the name of the file
/// as preset. Heads that the file does not name are exact, and are not among the replaced ones.
/// Throws: std::invalid_argument, which names the file, if it is not such a file, for layers and heads that the model
///   does not have, for unknown methods, and for a head that is chosen twice.
Replacement read_choice(const std::string& path, arma::uword layers, arma::uword heads);
/// The same from the bytes of a file; `path` is used in messages.
Replacement parse_choice(std::string_view bytes, const std::string& path, arma::uword layers, arma::uword heads);

}  // namespace croquis
