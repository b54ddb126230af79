#include <fmt/format.h>

#include <cmath>
#include <croquis/io/bytes.hpp>
#include <croquis/models/output_embeddings.hpp>
#include <croquis/models/required_tensors.hpp>
#include <utility>

namespace croquis {
namespace {

/// X_0 = word. Y = X + A W_O^T with A the attention of RMSNorm(X), and the output of a layer is
/// Y + (f(N W_g^T) * (N W_u^T)) W_d^T, N = RMSNorm(Y). Logits: RMSNorm(X) W^T.
class Llama : public Architecture {
 public:
  Llama(const ModelWeights& weights, const ModelConfig& config)
      : config_(config),
        parts_(weights, ModelParts::prefix_of(weights, "embed_tokens.weight", {"model.", ""})),
        output_(weights, config, {.words = parts_.full("embed_tokens.weight"), .weight = "lm_head.weight"}) {
    RequiredTensors required(parts_);
    const arma::uword hidden = config.hidden, of_q = config.heads * config.p(),
                      of_k = config.heads / config.shared() * config.p();
    vocabulary_ = required.table("embed_tokens.weight", hidden);
    for (arma::uword l = 0; l < config.layers; ++l) {
      required.shape(of_layer(l, "input_layernorm.weight"), {hidden});
      required.linear(of_layer(l, "self_attn.q_proj"), of_q, hidden, config.attention_bias);
      required.linear(of_layer(l, "self_attn.k_proj"), of_k, hidden, config.attention_bias);
      required.linear(of_layer(l, "self_attn.v_proj"), of_k, hidden, config.attention_bias);
      required.linear(of_layer(l, "self_attn.o_proj"), hidden, of_q, config.attention_bias);
      required.shape(of_layer(l, "post_attention_layernorm.weight"), {hidden});
      required.linear(of_layer(l, "mlp.gate_proj"), config.intermediate, hidden, config.mlp_bias);
      required.linear(of_layer(l, "mlp.up_proj"), config.intermediate, hidden, config.mlp_bias);
      required.linear(of_layer(l, "mlp.down_proj"), hidden, config.intermediate, config.mlp_bias);
    }
    required.shape("norm.weight", {hidden});
    required.no_others("layers.", {".rotary_emb.inv_freq"});
    required.no_others("norm.");
    require_rates();
  }

  arma::mat embed(const TokenWindows& tokens) const override {
    return parts_.rows("embed_tokens.weight", places_of(tokens.ids));
  }

  HeadProjections project(const arma::mat& x, arma::uword layer,
                          const std::vector<arma::uword>& positions) const override {
    const arma::mat y = norm(x, of_layer(layer, "input_layernorm"));
    const auto of = [&](const char* part) { return parts_.linear(y, of_layer(layer, part), config_.attention_bias); };
    HeadProjections projections{of("self_attn.q_proj"), of("self_attn.k_proj"), of("self_attn.v_proj")};
    rotate(projections.q, positions);
    rotate(projections.k, positions);
    return projections;
  }

  arma::mat output(const arma::mat& x, const arma::mat& context, arma::uword layer) const override {
    arma::mat y = x + parts_.linear(context, of_layer(layer, "self_attn.o_proj"), config_.attention_bias);
    const arma::mat z = norm(y, of_layer(layer, "post_attention_layernorm"));
    arma::mat gate = parts_.linear(z, of_layer(layer, "mlp.gate_proj"), config_.mlp_bias);
    apply(config_.activation, gate);
    gate %= parts_.linear(z, of_layer(layer, "mlp.up_proj"), config_.mlp_bias);
    y += parts_.linear(gate, of_layer(layer, "mlp.down_proj"), config_.mlp_bias);
    return y;
  }

  arma::mat last_hidden(arma::mat x) const override { return norm(std::move(x), "norm"); }

  void require_language_head() const override { output_.require(vocabulary_, config_.hidden); }

  arma::mat logits(const arma::mat& hidden) const override { return output_.logits(hidden); }

 private:
  static std::string of_layer(arma::uword layer, const char* part) { return fmt::format("layers.{}.{}", layer, part); }
  arma::mat norm(arma::mat x, const std::string& name) const {
    return parts_.rms_norm(std::move(x), name, config_.layer_norm_epsilon);
  }

  double rate(arma::uword j) const {
    return std::pow(config_.rope_theta, -2.0 * static_cast<double>(j) / static_cast<double>(config_.p()));
  }

  // Old files have the rates as a buffer, which Hugging Face's code passes over. Where it is not that of the
  // configuration, the weights are not those of this model: the entry for the base, say, has been lost.
  void require_rates() const {
    constexpr double rounding = 0x1p-7, smallest = 0x1p-24;  // in bfloat16, and of a number in half precision
    const ModelWeights& weights = parts_.weights();
    for (const std::string& name : weights.names()) {
      if (!name.ends_with("rotary_emb.inv_freq")) continue;
      const std::shared_ptr<const arma::mat> rates = weights.matrix(name);
      bool agrees = rates->n_elem == config_.p() / 2;
      for (arma::uword j = 0; agrees && j < rates->n_elem; ++j) {
        agrees = std::abs((*rates)(j)-rate(j)) <= rounding * rate(j) + smallest;
      }
      if (agrees) continue;
      refuse_file(weights.name(),
                  fmt::format("tensor '{}' has other rates of the rotary positions than rope_theta {} and heads of "
                              "width {} give; correct config.json, or remove the tensor",
                              excerpt(name), config_.rope_theta, config_.p()));
    }
  }

  // Columns j and j + p/2 of each head are turned by the angle (position) theta^(-2j/p), as Hugging Face's code pairs
  // them.
  void rotate(arma::mat& x, const std::vector<arma::uword>& positions) const {
    const arma::uword p = config_.p(), half = p / 2;
    for (arma::uword j = 0; j < half; ++j) {
      const double turn = rate(j);
      for (arma::uword i = 0; i < x.n_rows; ++i) {
        const double angle = static_cast<double>(positions[i]) * turn, c = std::cos(angle), s = std::sin(angle);
        for (arma::uword left = j; left < x.n_cols; left += p) {
          const double a = x(i, left), b = x(i, left + half);
          x(i, left) = a * c - b * s;
          x(i, left + half) = b * c + a * s;
        }
      }
    }
  }

  ModelConfig config_;
  ModelParts parts_;
  OutputEmbeddings output_;
};

}  // namespace

std::unique_ptr<Architecture> make_llama(const ModelWeights& weights, const ModelConfig& config) {
  return std::make_unique<Llama>(weights, config);
}

}  // namespace croquis
