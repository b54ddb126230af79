// choice.json: which method computes the attention of each head of a model.
#pragma once

#include <croquis/measure/choose.hpp>
#include <croquis/measure/model_loss.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The cost of all choices together in units of exact attention's, where what is not chosen is exact attention.
double followed_cost_ratio(const std::vector<ChoiceRow>& rows);

/// The answers as JSON: an object with what was asked (eps, delta, confidence, metric, cost_unit), cost_ratio of all
/// choices together, and "choices", an array of objects with input, layer, head (null: all of them), status, method,
/// options (an object of texts) and features. What is not decided is exact attention there.
std::string choice_json(const std::vector<ChoiceRow>& rows);

/// The choices of a file for a model, as a replacement of its heads: method "choice", preset the name of the file.
/// Heads that the file does not name are exact, and are not among the replaced ones. Throws std::invalid_argument, with
/// the file, for what is no such file, for layers and heads that the model does not have, for methods that there are
/// not, and for a head that is chosen twice.
Replacement read_choice(const std::string& path, arma::uword layers, arma::uword heads);
/// The same of the bytes of a file.
Replacement parse_choice(std::string_view bytes, const std::string& path, arma::uword layers, arma::uword heads);

}  // namespace croquis
