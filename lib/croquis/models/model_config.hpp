// The sizes of a model, from its config.json.
#pragma once

#include <armadillo>
#include <optional>
#include <string>
#include <string_view>

namespace croquis {

/// The architectures that are read, by model_type.
enum class ModelType { bert, albert, gpt2, llama };
std::string_view name_of(ModelType type);

enum class Activation {
  gelu,       ///< x Phi(x), by erf
  gelu_tanh,  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  relu,       ///< max(x, 0)
  silu,       ///< x / (1 + exp(-x))
};

/// x -> f(x), entry by entry.
void apply(Activation activation, arma::mat& x);

struct ModelConfig {
  ModelType type = ModelType::bert;
  arma::uword hidden = 768;  ///< width of a token
  arma::uword heads = 12;    ///< of queries
  arma::uword layers = 12;
  arma::uword intermediate = 3072;  ///< width between the products of the feed-forward part
  arma::uword positions = 512;      ///< longest window of tokens
  arma::uword token_types = 2;      ///< BERT and ALBERT
  Activation activation = Activation::gelu;
  double layer_norm_epsilon = 1e-12;              ///< of LayerNorm, or of RMSNorm
  std::optional<arma::uword> key_heads = {};      ///< llama: heads of keys and values, a divisor of heads
  std::optional<arma::uword> head_width = {};     ///< llama: p where it is not hidden / heads
  arma::uword embedding = 128;                    ///< albert: width of word embeddings
  arma::uword groups = 1;                         ///< albert: layers with weights of their own
  double rope_theta = 10'000;                     ///< llama: base of the rotary positions
  bool attention_bias = false, mlp_bias = false;  ///< llama
  bool tied = true;                               ///< the word embeddings are the decoder's weights too
  std::optional<arma::uword> vocabulary = {};     ///< word embeddings, where the file says how many
  std::optional<std::uint32_t> padding = {};      ///< the token behind the end of shorter sequences
  bool type_stated = true;                        ///< false: there was no model_type, and it was taken as bert

  arma::uword p() const { return head_width.value_or(hidden / heads); }
  /// The number of query heads that share one head of keys and values.
  arma::uword shared() const { return heads / key_heads.value_or(heads); }
  /// Whether tokens attend only to themselves and earlier tokens.
  bool is_causal() const { return type == ModelType::gpt2 || type == ModelType::llama; }
};

/// Reads config.json with the names of Hugging Face's configurations; entries that are not named here are ignored.
/// - bert, albert: hidden_size, num_attention_heads, num_hidden_layers, intermediate_size, max_position_embeddings must
///   be present. type_vocab_size, hidden_act, layer_norm_eps, tie_word_embeddings have the default values above
///   (hidden_act of albert: gelu_new). For albert also embedding_size and num_hidden_groups (at most the layers);
///   inner_group_num must be 1.
/// - gpt2: n_embd, n_head, n_layer, n_positions must be present, under these names or the four of bert; n_inner
///   (default 4 n_embd), activation_function (gelu_new), layer_norm_epsilon (1e-5), tie_word_embeddings (true).
/// - llama: as bert, with num_key_value_heads, head_dim, rms_norm_eps (1e-6), rope_theta (also in rope_parameters),
///   attention_bias, mlp_bias and tie_word_embeddings (false); hidden_act (silu).
/// For all, vocab_size and pad_token_id may be there. Activations are gelu, gelu_new, gelu_pytorch_tanh, relu and silu,
/// also as gelu_python and swish.
/// Without a model_type it is bert. Throws: std::invalid_argument, with a message of one line that names the file and
/// the entry, in these cases:
/// - the file cannot be read, is not a JSON object, or has a name twice in an object;
/// - an entry is missing or has another type (is_decoder must be true or false; 1 and "true" are neither);
/// - a size is outside 1 ... 2^24, or the hidden size is not a multiple of the number of heads;
/// - the activation is unknown;
/// - the model is of another type, or has features that are not supported: relative positions, a BERT that is a
///   decoder, a decoder that is not causal, rotary positions that are scaled or turn a part of a head, attention with
///   another scale, cross attention, pruned heads, a Llama with factors or caps of other architectures;
/// - it says that the weights are quantised, that the model has code of its own (auto_map), or that it is of a class of
///   another type (architectures).
ModelConfig read_model_config(const std::string& path);

/// The same from the bytes of a file. `name` is used in messages.
ModelConfig parse_model_config(std::string_view bytes, const std::string& name);

}  // namespace croquis
