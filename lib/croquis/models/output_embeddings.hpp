// The last product of a language-model head, by which a hidden state becomes logits. Not installed.
#pragma once

#include <croquis/models/architecture.hpp>
#include <string>
#include <utility>

namespace croquis {

/// x -> x W^T + b, with one column for each word. W is the word embeddings where the configuration ties the two, and a
/// tensor of its own otherwise.
class OutputEmbeddings {
 public:
  /// Full names of tensors.
  struct Names {
    std::string words;          ///< the word embeddings
    std::string weight;         ///< W where they are not tied
    std::string bias = {};      ///< b; empty: there is none
    std::string old_bias = {};  ///< the name of b where there is no tensor `bias`
  };
  OutputEmbeddings(const ModelWeights& weights, const ModelConfig& config, Names names)
      : weights_(weights), tensors_(weights, ""), tied_(config.tied), names_(std::move(names)) {}

  /// Throws std::invalid_argument, which names the tensor, if one is missing or has another shape than words x width.
  /// It also throws if the two are tied and the file has a tensor with other numbers nevertheless, which one version of
  /// Hugging Face's code uses and another does not.
  /// Memory: two copies of W where the file has it twice.
  void require(arma::uword words, arma::uword width) const;
  arma::mat logits(const arma::mat& x) const;

 private:
  void require_equal_if_tied(const std::string& tensor, const std::string& other) const;
  const std::string& bias() const;

  ModelWeights weights_;
  ModelParts tensors_;
  bool tied_;
  Names names_;
};

/// The names for BERT and ALBERT, where `head` is the prefix of the head's tensors. The bias is that of the decoder or,
/// as in older files, that of the head.
OutputEmbeddings::Names names_of_decoder(const std::string& words, const std::string& head);

}  // namespace croquis
