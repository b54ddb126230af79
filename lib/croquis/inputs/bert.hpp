// Queries, keys and values of a trained BERT on a text.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/inputs/bert_config.hpp>
#include <croquis/inputs/wordpiece.hpp>
#include <croquis/io/safetensors.hpp>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

struct BertHead {
  arma::uword layer = 0, head = 0;  ///< from 0
  Problem<double> problem;
};

/// The encoder of BERT (Devlin et al. 2019). Tensors have the names of Hugging Face's BertModel, with or without
/// "bert." in front; the weight and bias of a LayerNorm may also be called gamma and beta. Numbers are float32,
/// float16, bfloat16 or float64.
///
/// X_0 = LayerNorm(word + position + token type 0). A layer computes Q = X W_Q^T + b_Q, and likewise K and V, and
/// divides them into heads of p = hidden / heads columns. A is the softmax attention of all heads side by side. Then Y
/// = LayerNorm(X + A W_O^T + b_O), and the output of the layer is LayerNorm(Y + f(Y W_1^T + b_1) W_2^T + b_2).
///
/// If there are more tokens than the model has positions, they are divided into pieces: rows i with the same i /
/// positions (rounded down) form one piece. Each piece is treated like a text of its own. Positions start again, and
/// attention *inside the encoder* stays within the piece, which is all that the model can do. Q, K and V of all pieces
/// are stacked and form one problem of n tokens, as in the figures of Skyformer and Skeinformer. Pieces do not overlap.
/// There is no padding; the last piece is shorter.
///
/// Everything is computed in double, by exact_attention and BLAS, with the same result for any number of threads.
class BertEncoder {
 public:
  /// Throws std::invalid_argument, with one line that names the file and the tensor, if a tensor that the configuration
  /// requires is missing or has another shape. Numbers are read when they are used, and refused as in
  /// SafeTensors::matrix.
  BertEncoder(SafeTensors weights, const BertConfig& config);

  const BertConfig& config() const { return config_; }
  /// The number of word embeddings. Token ids are below it.
  arma::uword vocabulary() const { return vocabulary_; }

  /// The input of a layer (n x hidden): the embeddings for layer 0, and the output of the encoder for layer = layers.
  /// Throws: std::invalid_argument if there are no ids, if an id is vocabulary() or larger, and for a layer that does
  ///   not exist.
  arma::mat hidden(const TokenIds& ids, arma::uword layer) const;

  /// Heads of the given layers, in the given order, by one run of the encoder up to the last of them.
  /// Throws: std::invalid_argument as hidden, and for layers or heads that do not exist.
  /// Cost: for each layer n (8 hidden^2 + 4 hidden intermediate) flops, and its exact attention, 4 n min(n, positions)
  ///   hidden. Memory n (4 hidden + intermediate), the weights of one layer, and the requested heads.
  std::vector<BertHead> heads(const TokenIds& ids, const std::vector<arma::uword>& layers,
                              const std::vector<arma::uword>& heads) const;

  /// A single head.
  Problem<double> qkv(const TokenIds& ids, arma::uword layer, arma::uword head) const;

 private:
  struct Projections {
    arma::mat q, k, v;  // n x hidden, a head beside the other
  };

  void require_shapes();
  std::string norm_part(const std::string& norm, bool weight) const;
  arma::mat embed(const TokenIds& ids) const;
  arma::mat linear(const arma::mat& x, const std::string& name) const;
  void normalise(arma::mat& x, const std::string& name) const;
  Projections project(const arma::mat& x, arma::uword layer) const;
  arma::mat attend(const Projections& projections) const;
  arma::mat output(const arma::mat& x, const Projections& projections, arma::uword layer) const;

  friend class BertHeads;

  SafeTensors weights_;
  BertConfig config_;
  std::string prefix_;
  arma::uword vocabulary_ = 0;
};

/// The heads of a text one after the other, for those who do not want all of them in memory. The same numbers as
/// BertEncoder::heads. Not thread-safe.
class BertHeads {
 public:
  BertHeads(BertEncoder encoder, TokenIds ids);

  /// Goes on from the layer that was asked for last; an earlier one starts again from the first.
  /// Throws: std::invalid_argument as BertEncoder::heads. Memory: 4 n hidden.
  Problem<double> head(arma::uword layer, arma::uword head);

 private:
  BertEncoder encoder_;
  TokenIds ids_;
  arma::uword layer_ = 0;
  arma::mat x_;                                          // the input of layer_
  std::optional<BertEncoder::Projections> projections_;  // of layer_
};

}  // namespace croquis
