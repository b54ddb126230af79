// Queries, keys and values of a trained BERT on a text.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/inputs/bert_config.hpp>
#include <croquis/inputs/wordpiece.hpp>
#include <croquis/io/safetensors.hpp>
#include <string>
#include <vector>

namespace croquis {

struct BertHead {
  arma::uword layer = 0, head = 0;  ///< from 0
  Problem<double> problem;
};

/// The encoder of BERT (Devlin et al. 2019) with the tensors' names of Hugging Face's BertModel, with and without
/// "bert." before them, LayerNorm's weight and bias also as gamma and beta; float32, float16, bfloat16 or float64.
///
/// X_0 = LayerNorm(word + position + token type 0). A layer has Q = X W_Q^T + b_Q, likewise K and V, cut into heads of
/// p = hidden / heads columns; A = the heads' softmax attention side by side; Y = LayerNorm(X + A W_O^T + b_O); its
/// output is LayerNorm(Y + f(Y W_1^T + b_1) W_2^T + b_2).
///
/// More tokens than the model has positions are pieces, rows i with the same i / positions (rounded down), as if each
/// was a text of its own: positions start again, and attention *inside the encoder* stays within a piece, which is all
/// the model can do. Q, K and V of all pieces, one below the other, are one problem of n tokens, as in the figures of
/// Skyformer and Skeinformer. Pieces do not overlap; there is no padding, the last is shorter.
///
/// Nothing is rounded below double; arithmetic is that of exact_attention and BLAS, the same for any number of threads.
class BertEncoder {
 public:
  /// Throws std::invalid_argument in one line that names the file and the tensor: one that the configuration calls for
  /// is missing or has another shape. Numbers are read as they are used, and refused as SafeTensors::matrix does.
  BertEncoder(SafeTensors weights, const BertConfig& config);

  const BertConfig& config() const { return config_; }
  /// Number of word embeddings: ids are below it.
  arma::uword vocabulary() const { return vocabulary_; }

  /// Input of a layer, n x hidden: the embeddings for layer 0, the output of the encoder for layer = layers.
  /// Throws std::invalid_argument for no ids, an id from vocabulary() on, another layer.
  arma::mat hidden(const TokenIds& ids, arma::uword layer) const;

  /// Heads of the layers, both in the order given, by one run of the encoder up to the last.
  /// Throws std::invalid_argument as hidden, and for layers or heads that there are not.
  /// Cost: a layer n (8 hidden^2 + 4 hidden intermediate) flops and its exact attention, 4 n min(n, positions) hidden;
  ///   memory n (4 hidden + intermediate), a layer's weights, and the heads asked for.
  std::vector<BertHead> heads(const TokenIds& ids, const std::vector<arma::uword>& layers,
                              const std::vector<arma::uword>& heads) const;

  /// One of them.
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

  SafeTensors weights_;
  BertConfig config_;
  std::string prefix_;
  arma::uword vocabulary_ = 0;
};

}  // namespace croquis
