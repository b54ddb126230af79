#include <fmt/format.h>

#include <croquis/io/bytes.hpp>
#include <croquis/models/output_embeddings.hpp>
#include <croquis/models/required_tensors.hpp>

namespace croquis {

void OutputEmbeddings::require(arma::uword words, arma::uword width) const {
  if (!tied_ && !weights_.has(names_.weight)) {
    refuse_file(weights_.name(),
                fmt::format("has no tensor '{}', and tie_word_embeddings is false; with true, the word "
                            "embeddings take its place",
                            names_.weight));
  }
  RequiredTensors required(tensors_);
  if (!tied_) required.shape(names_.weight, {words, width});
  require_equal_if_tied(names_.weight, names_.words);
  if (!names_.bias.empty()) {
    required.shape(bias(), {words});
    require_equal_if_tied(names_.bias, names_.old_bias);
  }
  required.no_others(names_.weight.substr(0, names_.weight.rfind('.')), {".weight"});
}

arma::mat OutputEmbeddings::logits(const arma::mat& x) const {
  arma::mat y = tensors_.product(x, tied_ ? names_.words : names_.weight);
  if (!names_.bias.empty()) tensors_.add_row(y, bias());
  return y;
}

// Files of tied models often have the numbers twice.
void OutputEmbeddings::require_equal_if_tied(const std::string& tensor, const std::string& other) const {
  if (!tied_ || !weights_.has(tensor) || !weights_.has(other) || weights_.equal(tensor, other)) return;
  refuse_file(weights_.name(), fmt::format("tensor '{}' differs from '{}', and tie_word_embeddings is true; set it to "
                                           "false in config.json, or remove the tensor",
                                           tensor, other));
}

const std::string& OutputEmbeddings::bias() const {
  return weights_.has(names_.bias) ? names_.bias : names_.old_bias;
}

OutputEmbeddings::Names names_of_decoder(const std::string& words, const std::string& head) {
  return {.words = words, .weight = head + "decoder.weight", .bias = head + "decoder.bias", .old_bias = head + "bias"};
}

}  // namespace croquis
