// The sizes of a BERT, from its config.json.
#pragma once

#include <armadillo>
#include <string>
#include <string_view>

namespace croquis {

enum class Activation {
  gelu,       ///< x Phi(x), by erf
  gelu_tanh,  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  relu,       ///< max(x, 0)
};

/// x -> f(x), entry by entry.
void apply(Activation activation, arma::mat& x);

struct BertConfig {
  arma::uword hidden = 768;  ///< width of a token, a multiple of heads
  arma::uword heads = 12;
  arma::uword layers = 12;
  arma::uword intermediate = 3072;  ///< width between the two products of the feed-forward part
  arma::uword positions = 512;      ///< longest piece of text
  arma::uword token_types = 2;
  Activation activation = Activation::gelu;
  double layer_norm_epsilon = 1e-12;
};

/// hidden_size, num_attention_heads, num_hidden_layers, intermediate_size and max_position_embeddings must be present.
/// type_vocab_size, hidden_act ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu") and layer_norm_eps have the default
/// values above.
/// Throws: std::invalid_argument, with one line that names the file and the entry, in these cases:
/// - the file cannot be read, is not a JSON object, or has a name twice in an object;
/// - an entry is missing or has another type (is_decoder must be true or false; 1 and "true" are neither);
/// - a size is outside 1 ... 2^24, or the hidden size is not a multiple of the number of heads;
/// - the activation is unknown;
/// - the model is not a BERT encoder: another model_type, relative positions, or a decoder.
BertConfig read_bert_config(const std::string& path);

/// The same from the bytes of a file; `name` stands in the messages.
BertConfig parse_bert_config(std::string_view bytes, const std::string& name);

}  // namespace croquis
