// Trained transformers: hidden states, heads and logits on tokens.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/models/model_config.hpp>
#include <croquis/models/model_weights.hpp>
#include <croquis/models/token_windows.hpp>
#include <functional>
#include <memory>
#include <optional>

namespace croquis {

class Architecture;

/// Queries, keys and values of all heads of a layer, side by side: q is n x (heads p), k and v are n x (key heads p).
/// Rotary positions have been applied.
struct HeadProjections {
  arma::mat q, k, v;
};

/// A BERT (Devlin et al. 2019), an ALBERT (Lan et al. 2020), or a decoder of the type of GPT-2 (Radford et al. 2019) or
/// of Llama (Touvron et al. 2023; rotary positions, groups of heads that share keys). Tensors have Hugging Face's
/// names, with or without the name of the model as a prefix; the weight and bias of a LayerNorm may also be called
/// gamma and beta. Weights are float32, float16, bfloat16 or float64. Everything is computed in double.
///
/// project() computes Q, K and V of a layer from its input x (n x hidden). attend() computes the context from them (n x
/// heads p, the heads side by side). output() adds it to x and applies the rest of the layer. hidden() does this for
/// all layers with exact attention; for other attention, call the three functions.
///
/// Tokens come in windows (TokenWindows), and attention is restricted to each window. If Q, K and V of several windows
/// are stacked into one head (head() without a window), this is one problem of all n tokens.
///
/// The bits are the same for any number of threads. Copies share the weights. Thread-safe. A matrix of another size,
/// and a layer, head or row that does not exist, throw std::invalid_argument.
class Model {
 public:
  /// Throws std::invalid_argument, with a message of one line that names the file and the tensor, if a tensor that the
  ///   configuration requires is missing or has another shape, or if there are more or fewer word embeddings than its
  ///   vocab_size; and for tensors of adapters (lora_A, lora_B), norms of queries and keys (q_norm, k_norm), and a
  ///   LayerNorm with other numbers under its old names than under the new ones. The tensors of the language-model head
  ///   are not required here. Also for a configuration without layers, heads, positions or width, and for a width that
  ///   is not a multiple of the heads, or heads that are not one of the key heads.
  Model(const ModelWeights& weights, const ModelConfig& config);

  const ModelConfig& config() const { return config_; }
  /// The number of word embeddings. Token ids are below it.
  arma::uword vocabulary() const;

  /// The input of layer 0 (n x hidden).
  /// Throws: std::invalid_argument if there are no ids, if an id is not below vocabulary(), for a window longer than
  ///   config().positions, and as require_windows.
  arma::mat embed(const TokenWindows& tokens) const;
  /// `tokens` are those of the rows of x. Cost: 2 n hidden (heads + 2 key heads) p flops.
  HeadProjections project(const arma::mat& x, arma::uword layer, const TokenWindows& tokens) const;
  /// Rows first ... last of one head, with the keys and values that it shares with others; causal for a decoder.
  /// Without a range, all rows.
  Problem<double> head(const HeadProjections& projections, arma::uword head, arma::uword first, arma::uword last) const;
  Problem<double> head(const HeadProjections& projections, arma::uword head) const;
  /// Exact attention of all heads, each window by itself.
  arma::mat attend(const HeadProjections& projections, const TokenWindows& tokens) const;
  /// The output of a layer from its input and the context.
  arma::mat output(const arma::mat& x, const arma::mat& context, arma::uword layer) const;
  /// The input of the language-model head, from the output of the last layer; decoders apply the last norm.
  arma::mat last_hidden(arma::mat x) const;

  /// Throws std::invalid_argument, as the constructor, unless the tensors of the language-model head are there and
  ///   their numbers can be read: a NaN is found here; and if the word embeddings are the decoder's weights by the
  ///   configuration, and the file has others. Cost: the logits of one token.
  void require_language_head() const;
  /// Logits over the vocabulary for rows of last_hidden(). Memory: rows x vocabulary().
  arma::mat logits(const arma::mat& hidden) const;

  /// The input of a layer with exact attention, or for layer = layers the output of the last one. Tokens are in windows
  /// of config().positions.
  /// Cost: for each layer of a BERT n (8 hidden^2 + 4 hidden intermediate) flops, and its exact attention, 4 n min(n,
  ///   positions) hidden. Memory: n (4 hidden + intermediate), and the weights.
  /// Throws: std::invalid_argument as embed, and for a layer that does not exist.
  arma::mat hidden(const TokenIds& ids, arma::uword layer) const;

 private:
  ModelConfig config_;
  std::shared_ptr<const Architecture> architecture_;
};

/// The heads of sequences of tokens, computed one after the other, so that not all of them are in memory. A sequence
/// with all its windows is one problem. Not thread-safe.
class ModelHeads {
 public:
  /// `sequence` returns the tokens of a sequence, the same in every call.
  ModelHeads(Model model, std::function<TokenWindows(arma::uword sequence)> sequence);

  /// One head. Continues from the last requested layer; another sequence or an earlier layer starts again from layer 0.
  /// Throws: std::invalid_argument for layers and heads that do not exist, and as Model::embed.
  /// Memory: n (hidden + (heads + 2 key heads) p) and the intermediate results of a layer.
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
