#include <fmt/format.h>

#include <croquis/models/output_embeddings.hpp>
#include <croquis/models/required_tensors.hpp>

namespace croquis {
namespace {

/// As BERT, with embeddings that are narrower (and mapped to the width of the model), and layers that share weights:
/// layer l of L has those of group l / (L / G), rounded down, of G.
class Albert : public Architecture {
 public:
  Albert(const ModelWeights& weights, const ModelConfig& config)
      : config_(config),
        parts_(weights, ModelParts::prefix_of(weights, kWords, {"albert.", ""})),
        head_(weights, ""),
        output_(weights, config, names_of_decoder(parts_.full(kWords), kHead)) {
    RequiredTensors required(parts_);
    const arma::uword hidden = config.hidden, narrow = config.embedding;
    vocabulary_ = required.table(kWords, narrow);
    required.shape("embeddings.position_embeddings.weight", {config.positions, narrow});
    required.shape("embeddings.token_type_embeddings.weight", {config.token_types, narrow});
    required.norm("embeddings.LayerNorm", narrow);
    required.linear("encoder.embedding_hidden_mapping_in", hidden, narrow);
    for (arma::uword g = 0; g < config.groups; ++g) {
      for (const char* part : {"attention.query", "attention.key", "attention.value", "attention.dense"}) {
        required.linear(of_group(g, part), hidden, hidden);
      }
      required.norm(of_group(g, "attention.LayerNorm"), hidden);
      required.linear(of_group(g, "ffn"), config.intermediate, hidden);
      required.linear(of_group(g, "ffn_output"), hidden, config.intermediate);
      required.norm(of_group(g, "full_layer_layer_norm"), hidden);
    }
    required.no_others("encoder.");
  }

  arma::mat embed(const TokenWindows& tokens) const override {
    arma::mat x = parts_.rows(kWords, places_of(tokens.ids)) +
                  parts_.rows("embeddings.position_embeddings.weight", tokens.positions());
    x.each_row() += parts_.matrix("embeddings.token_type_embeddings.weight")->row(0);
    parts_.layer_norm(x, "embeddings.LayerNorm", config_.layer_norm_epsilon);
    return parts_.linear(x, "encoder.embedding_hidden_mapping_in");
  }

  HeadProjections project(const arma::mat& x, arma::uword layer, const std::vector<arma::uword>&) const override {
    return {parts_.linear(x, of_layer(layer, "attention.query")), parts_.linear(x, of_layer(layer, "attention.key")),
            parts_.linear(x, of_layer(layer, "attention.value"))};
  }

  arma::mat output(const arma::mat& x, const arma::mat& context, arma::uword layer) const override {
    arma::mat y = x + parts_.linear(context, of_layer(layer, "attention.dense"));
    parts_.layer_norm(y, of_layer(layer, "attention.LayerNorm"), config_.layer_norm_epsilon);
    arma::mat z = parts_.linear(y, of_layer(layer, "ffn"));
    apply(config_.activation, z);
    z = y + parts_.linear(z, of_layer(layer, "ffn_output"));
    parts_.layer_norm(z, of_layer(layer, "full_layer_layer_norm"), config_.layer_norm_epsilon);
    return z;
  }

  void require_language_head() const override {
    head_.require_head_for_masked_tokens(kHead + "dense.weight");
    RequiredTensors required(head_);
    required.linear(kHead + "dense", config_.embedding, config_.hidden);
    required.norm(kHead + "LayerNorm", config_.embedding);
    output_.require(vocabulary_, config_.embedding);
  }

  arma::mat logits(const arma::mat& hidden) const override {
    arma::mat y = head_.linear(hidden, kHead + "dense");
    apply(config_.activation, y);
    head_.layer_norm(y, kHead + "LayerNorm", config_.layer_norm_epsilon);
    return output_.logits(y);
  }

 private:
  inline static const std::string kWords = "embeddings.word_embeddings.weight";
  inline static const std::string kHead = "predictions.";
  static std::string of_group(arma::uword group, const char* part) {
    return fmt::format("encoder.albert_layer_groups.{}.albert_layers.0.{}", group, part);
  }
  std::string of_layer(arma::uword layer, const char* part) const {
    // In double, as Hugging Face's code: where L is no multiple of G, rounding can make it one less than the exact
    // number (layer 9 of 18 with 14 groups).
    const double layers_of_group = static_cast<double>(config_.layers) / static_cast<double>(config_.groups);
    return of_group(static_cast<arma::uword>(static_cast<double>(layer) / layers_of_group), part);
  }

  ModelConfig config_;
  ModelParts parts_, head_;
  OutputEmbeddings output_;
};

}  // namespace

std::unique_ptr<Architecture> make_albert(const ModelWeights& weights, const ModelConfig& config) {
  return std::make_unique<Albert>(weights, config);
}

}  // namespace croquis
