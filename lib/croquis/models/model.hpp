// Trained transformers: hidden states, heads and logits on tokens.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/models/model_config.hpp>
#include <croquis/models/model_weights.hpp>
#include <croquis/models/token_windows.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

class Architecture;

/// Queries, keys and values of all heads of a layer, a head beside the other: q is n x (heads p), k and v are
/// n x (key heads p). Rotary positions have been applied.
struct HeadProjections {
  arma::mat q, k, v;
};

/// A BERT (Devlin et al. 2019), an ALBERT (Lan et al. 2020), a decoder of GPT-2's type (Radford et al. 2019) or of
/// Llama's (Touvron et al. 2023; rotary positions, groups of heads that share keys). Tensors have Hugging Face's names,
/// with or without the name of the model in front; the weight and bias of a LayerNorm may also be called gamma and
/// beta. Numbers are float32, float16, bfloat16 or float64, and all is computed in double.
///
/// A layer takes x (n x hidden) to Q, K and V (project); attention makes a context (n x heads p) of them, the heads
/// side by side (attend); output() adds it to x and applies the rest of the layer. hidden() does so for all layers with
/// exact attention; who wants other attention calls the parts.
///
/// Tokens come in windows (TokenWindows), and attention stays within each. Where Q, K and V of several windows are
/// stacked into one head (head() without a window), that is one problem of all n tokens.
///
/// The same bits for any number of threads. Copies share the weights. Thread-safe.
class Model {
 public:
  /// Throws std::invalid_argument, with one line that names the file and the tensor, if a tensor that the configuration
  /// requires is missing or has another shape; those of the language-model head are not required here.
  Model(ModelWeights weights, const ModelConfig& config);

  const ModelConfig& config() const { return config_; }
  /// The number of word embeddings. Token ids are below it.
  arma::uword vocabulary() const;

  /// The input of layer 0 (n x hidden).
  /// Throws: std::invalid_argument if there are no ids, if an id is vocabulary() or larger, and for a window longer
  /// than
  ///   config().positions.
  arma::mat embed(const TokenWindows& tokens) const;
  /// Cost: 2 n hidden (heads + 2 key heads) p flops.
  HeadProjections project(const arma::mat& x, arma::uword layer, const TokenWindows& tokens) const;
  /// Rows first ... last of one head, keys and values repeated where heads share them; causal for a decoder.
  Problem<double> head(const HeadProjections& projections, arma::uword head, arma::uword first, arma::uword last) const;
  Problem<double> head(const HeadProjections& projections, arma::uword head) const;
  /// Exact attention of all heads, each window by itself.
  arma::mat attend(const HeadProjections& projections, const TokenWindows& tokens) const;
  /// The output of a layer from its input and the context.
  arma::mat output(const arma::mat& x, const arma::mat& context, arma::uword layer) const;
  /// What the language-model head reads, from the output of the last layer: the last norm of decoders.
  arma::mat last_hidden(arma::mat x) const;

  /// Throws std::invalid_argument, as the constructor, unless the tensors of the language-model head are there.
  void require_language_head() const;
  /// Logits over the vocabulary for rows of last_hidden(). Memory: rows x vocabulary().
  arma::mat logits(const arma::mat& hidden) const;

  /// The input of a layer with exact attention, and for layer = layers the output of the last one. Tokens are in
  /// windows of config().positions. Throws: std::invalid_argument as embed, and for a layer that does not exist. Cost:
  /// for each layer n (8 hidden^2 + 4 hidden intermediate) flops (a BERT), and its exact attention, 4 n min(n,
  ///   positions) hidden. Memory n (4 hidden + intermediate), and the weights.
  arma::mat hidden(const TokenIds& ids, arma::uword layer) const;

 private:
  ModelConfig config_;
  std::shared_ptr<const Architecture> architecture_;
};

/// The heads of sequences of tokens one after the other, for those who do not want all of them in memory. A sequence is
/// one problem, of all its windows. Not thread-safe.
class ModelHeads {
 public:
  /// `sequence` gives the tokens of a sequence, the same every time.
  ModelHeads(Model model, std::function<TokenWindows(arma::uword sequence)> sequence);
  /// Of one sequence, of number 0.
  ModelHeads(Model model, TokenWindows tokens);

  /// Goes on from the layer that was asked for last; another sequence or an earlier layer starts again from the first.
  /// Throws: std::invalid_argument for layers and heads that do not exist, and as Model::embed.
  /// Memory: n (hidden + (heads + 2 key heads) p) and what a layer takes.
  Problem<double> head(arma::uword sequence, arma::uword layer, arma::uword head);

 private:
  Model model_;
  std::function<TokenWindows(arma::uword)> sequence_;
  std::optional<arma::uword> number_;  // of the sequence
  TokenWindows tokens_;
  arma::uword layer_ = 0;
  arma::mat x_;                  // the input of layer_
  HeadProjections projections_;  // of layer_
};

}  // namespace croquis
