// The parts in which model architectures differ. Not installed.
#pragma once

#include <croquis/models/model.hpp>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace croquis {

/// The tensors of a model under a common prefix, and the layers that use them. Rows of x are tokens.
class ModelParts {
 public:
  ModelParts(ModelWeights weights, std::string prefix) : weights_(std::move(weights)), prefix_(std::move(prefix)) {}

  /// The first of these prefixes with which `tensor` exists. Throws std::invalid_argument, which names the tensor and
  /// ends with the hint, if there is none.
  static std::string prefix_of(const ModelWeights& weights, const std::string& tensor,
                               std::initializer_list<const char*> prefixes, const std::string& hint = "");

  /// The name of a tensor in the file.
  std::string full(const std::string& tensor) const { return prefix_ + tensor; }
  bool has(const std::string& tensor) const { return weights_.has(prefix_ + tensor); }
  const ModelWeights& weights() const { return weights_; }
  /// Throws std::invalid_argument, which says that there is no loss, unless this tensor of a head for masked tokens is
  /// there: a classifier has none.
  void require_head_for_masked_tokens(const std::string& tensor) const;

  /// The weight or the bias of a LayerNorm, by its old name if it is there: weights converted from TensorFlow have
  /// gamma and beta.
  std::string norm_part(const std::string& norm, bool weight) const;
  std::shared_ptr<const arma::mat> matrix(const std::string& tensor) const { return weights_.matrix(prefix_ + tensor); }
  /// The rows of a table with these indices.
  arma::mat rows(const std::string& tensor, const std::vector<arma::uword>& places) const;
  /// x W^T + b for name.weight (out x in) and name.bias.
  arma::mat linear(const arma::mat& x, const std::string& name, bool bias = true) const;
  /// x W + b, as GPT-2 stores weights (in x out).
  arma::mat linear_by_columns(const arma::mat& x, const std::string& name) const;
  /// x W^T for a tensor with any name.
  arma::mat product(const arma::mat& x, const std::string& tensor) const;
  void add_row(arma::mat& x, const std::string& tensor) const;
  /// LayerNorm of the rows, in place.
  void layer_norm(arma::mat& x, const std::string& name, double epsilon) const;
  /// x / sqrt(mean(x^2) + epsilon), times name.weight.
  arma::mat rms_norm(arma::mat x, const std::string& name, double epsilon) const;

 private:
  ModelWeights weights_;
  std::string prefix_;
};

/// One architecture with its weights. Rows of x are tokens. Thread-safe.
class Architecture {
 public:
  virtual ~Architecture() = default;
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;

  arma::uword vocabulary() const { return vocabulary_; }
  virtual arma::mat embed(const TokenWindows& tokens) const = 0;
  virtual HeadProjections project(const arma::mat& x, arma::uword layer,
                                  const std::vector<arma::uword>& positions) const = 0;
  virtual arma::mat output(const arma::mat& x, const arma::mat& context, arma::uword layer) const = 0;
  virtual arma::mat last_hidden(arma::mat x) const { return x; }
  virtual void require_language_head() const = 0;
  virtual arma::mat logits(const arma::mat& hidden) const = 0;

 protected:
  Architecture() = default;
  static std::vector<arma::uword> places_of(const TokenIds& ids) { return {ids.begin(), ids.end()}; }

  arma::uword vocabulary_ = 0;
};

/// These throw std::invalid_argument, which names the tensor, if one is missing or has another shape.
std::unique_ptr<Architecture> make_bert(const ModelWeights& weights, const ModelConfig& config);
std::unique_ptr<Architecture> make_albert(const ModelWeights& weights, const ModelConfig& config);
std::unique_ptr<Architecture> make_gpt2(const ModelWeights& weights, const ModelConfig& config);
std::unique_ptr<Architecture> make_llama(const ModelWeights& weights, const ModelConfig& config);

}  // namespace croquis
