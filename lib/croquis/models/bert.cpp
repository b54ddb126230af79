#include <fmt/format.h>

#include <croquis/models/output_embeddings.hpp>
#include <croquis/models/required_tensors.hpp>

namespace croquis {
namespace {

/// X_0 = LayerNorm(word + position + token type 0). Y = LayerNorm(X + A W_O^T + b_O), and the output of a layer is
/// LayerNorm(Y + f(Y W_1^T + b_1) W_2^T + b_2). Logits: LayerNorm(f(X W^T + b)) W_d^T + b_d.
class Bert : public Architecture {
 public:
  Bert(const ModelWeights& weights, const ModelConfig& config)
      : config_(config),
        parts_(weights, ModelParts::prefix_of(weights, kWords, {"bert.", ""},
                                              config.type_stated ? "" : "; without a model_type it was taken as bert")),
        head_(weights, ""),
        output_(weights, config, names_of_decoder(parts_.full(kWords), kHead)) {
    RequiredTensors required(parts_);
    const arma::uword hidden = config.hidden;
    vocabulary_ = required.table(kWords, hidden);
    required.shape("embeddings.position_embeddings.weight", {config.positions, hidden});
    required.shape("embeddings.token_type_embeddings.weight", {config.token_types, hidden});
    required.norm("embeddings.LayerNorm", hidden);
    for (arma::uword l = 0; l < config.layers; ++l) {
      for (const char* part :
           {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"}) {
        required.linear(of_layer(l, part), hidden, hidden);
      }
      required.norm(of_layer(l, "attention.output.LayerNorm"), hidden);
      required.linear(of_layer(l, "intermediate.dense"), config.intermediate, hidden);
      required.linear(of_layer(l, "output.dense"), hidden, config.intermediate);
      required.norm(of_layer(l, "output.LayerNorm"), hidden);
    }
    required.no_others("encoder.");
  }

  arma::mat embed(const TokenWindows& tokens) const override {
    arma::mat x = parts_.rows(kWords, places_of(tokens.ids)) +
                  parts_.rows("embeddings.position_embeddings.weight", tokens.positions());
    x.each_row() += parts_.matrix("embeddings.token_type_embeddings.weight")->row(0);
    parts_.layer_norm(x, "embeddings.LayerNorm", config_.layer_norm_epsilon);
    return x;
  }

  HeadProjections project(const arma::mat& x, arma::uword layer, const std::vector<arma::uword>&) const override {
    return {parts_.linear(x, of_layer(layer, "attention.self.query")),
            parts_.linear(x, of_layer(layer, "attention.self.key")),
            parts_.linear(x, of_layer(layer, "attention.self.value"))};
  }

  arma::mat output(const arma::mat& x, const arma::mat& context, arma::uword layer) const override {
    arma::mat y = x + parts_.linear(context, of_layer(layer, "attention.output.dense"));
    parts_.layer_norm(y, of_layer(layer, "attention.output.LayerNorm"), config_.layer_norm_epsilon);
    arma::mat z = parts_.linear(y, of_layer(layer, "intermediate.dense"));
    apply(config_.activation, z);
    z = y + parts_.linear(z, of_layer(layer, "output.dense"));
    parts_.layer_norm(z, of_layer(layer, "output.LayerNorm"), config_.layer_norm_epsilon);
    return z;
  }

  void require_language_head() const override {
    head_.require_head_for_masked_tokens(kHead + "transform.dense.weight");
    RequiredTensors required(head_);
    required.linear(kHead + "transform.dense", config_.hidden, config_.hidden);
    required.norm(kHead + "transform.LayerNorm", config_.hidden);
    output_.require(vocabulary_, config_.hidden);
  }

  arma::mat logits(const arma::mat& hidden) const override {
    arma::mat y = head_.linear(hidden, kHead + "transform.dense");
    apply(config_.activation, y);
    head_.layer_norm(y, kHead + "transform.LayerNorm", config_.layer_norm_epsilon);
    return output_.logits(y);
  }

 private:
  static std::string of_layer(arma::uword layer, const char* part) {
    return fmt::format("encoder.layer.{}.{}", layer, part);
  }
  inline static const std::string kWords = "embeddings.word_embeddings.weight";
  inline static const std::string kHead = "cls.predictions.";
  ModelConfig config_;
  ModelParts parts_, head_;
  OutputEmbeddings output_;
};

}  // namespace

std::unique_ptr<Architecture> make_bert(const ModelWeights& weights, const ModelConfig& config) {
  return std::make_unique<Bert>(weights, config);
}

}  // namespace croquis
