#include <fmt/format.h>

#include <croquis/models/output_embeddings.hpp>
#include <croquis/models/required_tensors.hpp>
#include <utility>

namespace croquis {
namespace {

/// X_0 = word + position. Y = X + A W_O + b_O with A the attention of LayerNorm(X), and the output of a layer is
/// Y + f(LayerNorm(Y) W_1 + b_1) W_2 + b_2. Logits: LayerNorm(X) W_words^T.
class Gpt2 : public Architecture {
 public:
  Gpt2(const ModelWeights& weights, const ModelConfig& config)
      : config_(config),
        parts_(weights, ModelParts::prefix_of(weights, "wte.weight", {"transformer.", ""})),
        output_(weights, config, {.words = parts_.full("wte.weight"), .weight = "lm_head.weight"}) {
    RequiredTensors required(parts_);
    const arma::uword hidden = config.hidden;
    const auto require_by_columns = [&](const std::string& name, arma::uword in, arma::uword out) {
      required.shape(name + ".weight", {in, out});
      required.shape(name + ".bias", {out});
    };
    vocabulary_ = required.table("wte.weight", hidden);
    required.shape("wpe.weight", {config.positions, hidden});
    for (arma::uword l = 0; l < config.layers; ++l) {
      required.norm(of_layer(l, "ln_1"), hidden);
      require_by_columns(of_layer(l, "attn.c_attn"), hidden, 3 * hidden);
      require_by_columns(of_layer(l, "attn.c_proj"), hidden, hidden);
      required.norm(of_layer(l, "ln_2"), hidden);
      require_by_columns(of_layer(l, "mlp.c_fc"), hidden, config.intermediate);
      require_by_columns(of_layer(l, "mlp.c_proj"), config.intermediate, hidden);
    }
    required.norm("ln_f", hidden);
    required.no_others("h.", {".attn.bias", ".attn.masked_bias"});
    required.no_others("ln_f.");
  }

  arma::mat embed(const TokenWindows& tokens) const override {
    return parts_.rows("wte.weight", places_of(tokens.ids)) + parts_.rows("wpe.weight", tokens.positions());
  }

  HeadProjections project(const arma::mat& x, arma::uword layer, const std::vector<arma::uword>&) const override {
    const arma::uword hidden = config_.hidden;
    const arma::mat all = parts_.linear_by_columns(norm(x, of_layer(layer, "ln_1")), of_layer(layer, "attn.c_attn"));
    return {all.cols(0, hidden - 1), all.cols(hidden, 2 * hidden - 1), all.cols(2 * hidden, 3 * hidden - 1)};
  }

  arma::mat output(const arma::mat& x, const arma::mat& context, arma::uword layer) const override {
    arma::mat y = x + parts_.linear_by_columns(context, of_layer(layer, "attn.c_proj"));
    arma::mat z = parts_.linear_by_columns(norm(y, of_layer(layer, "ln_2")), of_layer(layer, "mlp.c_fc"));
    apply(config_.activation, z);
    y += parts_.linear_by_columns(z, of_layer(layer, "mlp.c_proj"));
    return y;
  }

  arma::mat last_hidden(arma::mat x) const override { return norm(std::move(x), "ln_f"); }

  void require_language_head() const override { output_.require(vocabulary_, config_.hidden); }

  arma::mat logits(const arma::mat& hidden) const override { return output_.logits(hidden); }

 private:
  static std::string of_layer(arma::uword layer, const char* part) { return fmt::format("h.{}.{}", layer, part); }
  arma::mat norm(arma::mat x, const std::string& name) const {
    parts_.layer_norm(x, name, config_.layer_norm_epsilon);
    return x;
  }

  ModelConfig config_;
  ModelParts parts_;
  OutputEmbeddings output_;
};

}  // namespace

std::unique_ptr<Architecture> make_gpt2(const ModelWeights& weights, const ModelConfig& config) {
  return std::make_unique<Gpt2>(weights, config);
}

}  // namespace croquis
