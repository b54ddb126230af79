#include <fmt/format.h>

#include <croquis/attention/exact.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/models/architecture.hpp>
#include <croquis/models/model.hpp>
#include <croquis/models/stock.hpp>
#include <string_view>
#include <utility>

namespace croquis {
namespace {

std::shared_ptr<const Architecture> made(const ModelWeights& weights, const ModelConfig& config) {
  switch (config.type) {
    case ModelType::bert:
      return make_bert(weights, config);
    case ModelType::albert:
      return make_albert(weights, config);
    case ModelType::gpt2:
      return make_gpt2(weights, config);
    case ModelType::llama:
      return make_llama(weights, config);
  }
  return nullptr;
}

void require_layer(arma::uword layer, const ModelConfig& config) {
  require(layer < config.layers, "Model", "layer < layers", {{"layer", layer}, {"layers", config.layers}});
}

void require_size(const arma::mat& matrix, std::string_view name, arma::uword rows, arma::uword cols) {
  require(matrix.n_rows == rows && matrix.n_cols == cols, "Model", "a row for each token, of the width of the model",
          {{"matrix", name}, {"rows", matrix.n_rows}, {"cols", matrix.n_cols}, {"tokens", rows}, {"width", cols}});
}

void require_sizes(const HeadProjections& projections, arma::uword rows, const ModelConfig& config) {
  const arma::uword keys = config.key_heads.value_or(config.heads) * config.p();
  require_size(projections.q, "q", rows, config.heads * config.p());
  require_size(projections.k, "k", rows, keys);
  require_size(projections.v, "v", rows, keys);
}

}  // namespace

Model::Model(const ModelWeights& weights, const ModelConfig& config) : config_(config) {
  require(
      config.hidden >= 1 && config.heads >= 1 && config.layers >= 1 && config.positions >= 1 &&
          (config.head_width || config.hidden % config.heads == 0),
      "Model", "hidden, heads, layers, positions >= 1, hidden a multiple of heads",
      {{"hidden", config.hidden}, {"heads", config.heads}, {"layers", config.layers}, {"positions", config.positions}});
  const arma::uword key_heads = config.key_heads.value_or(config.heads), p = config.p();
  require(key_heads >= 1 && config.heads % key_heads == 0 && p >= 1, "Model",
          "heads a multiple of key heads, and a width of heads >= 1",
          {{"heads", config.heads}, {"key heads", key_heads}, {"width", p}});
  require_stock_tensors(weights);
  architecture_ = made(weights, config_);
  if (config.vocabulary.value_or(vocabulary()) != vocabulary()) {
    refuse_file(weights.name(), fmt::format("has {} word embeddings; the vocab_size of its config.json is {}",
                                            vocabulary(), *config.vocabulary));
  }
}

arma::uword Model::vocabulary() const {
  return architecture_->vocabulary();
}

arma::mat Model::embed(const TokenWindows& tokens) const {
  require(!tokens.ids.empty(), "Model", "at least one token");
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    require(tokens.ids[i] < vocabulary(), "Model", "ids below the number of word embeddings",
            {{"id", tokens.ids[i]}, {"token", i}, {"word embeddings", vocabulary()}});
  }
  require_windows(tokens);
  for (std::size_t w = 0; w < tokens.ends.size(); ++w) {
    const arma::uword length = tokens.ends[w] - tokens.begin(w);
    require(length <= config_.positions, "Model", "windows of at most as many tokens as the model has positions",
            {{"tokens", length}, {"positions", config_.positions}});
  }
  return architecture_->embed(tokens);
}

HeadProjections Model::project(const arma::mat& x, arma::uword layer, const TokenWindows& tokens) const {
  require_layer(layer, config_);
  require_windows(tokens);
  require_size(x, "x", tokens.ids.size(), config_.hidden);
  return architecture_->project(x, layer, tokens.positions());
}

Problem<double> Model::head(const HeadProjections& projections, arma::uword head, arma::uword first,
                            arma::uword last) const {
  const arma::uword n = projections.q.n_rows;
  require_sizes(projections, n, config_);
  require(head < config_.heads && first <= last && last < n, "Model", "head < heads, first <= last < rows",
          {{"head", head}, {"heads", config_.heads}, {"first", first}, {"last", last}, {"rows", n}});
  const arma::uword p = config_.p(), of_q = head * p, of_k = head / config_.shared() * p;
  const arma::span rows(first, last), q(of_q, of_q + p - 1), k(of_k, of_k + p - 1);
  RelativePosition<double> position;
  position.causal = config_.is_causal();
  return {projections.q(rows, q), projections.k(rows, k), projections.v(rows, k), {}, position};
}

Problem<double> Model::head(const HeadProjections& projections, arma::uword head) const {
  require(!projections.q.is_empty(), "Model", "at least one token");
  return this->head(projections, head, 0, projections.q.n_rows - 1);
}

arma::mat Model::attend(const HeadProjections& projections, const TokenWindows& tokens) const {
  require_windows(tokens);
  require_sizes(projections, tokens.ids.size(), config_);
  const arma::uword p = config_.p();
  arma::mat context(projections.q.n_rows, config_.heads * p);
  parallel_for(tokens.ends.size() * config_.heads, [&](std::size_t task) {
    const std::size_t window = task / config_.heads, h = task % config_.heads;
    const arma::uword first = tokens.begin(window), last = tokens.ends[window] - 1;
    context(arma::span(first, last), arma::span(h * p, (h + 1) * p - 1)) =
        exact_attention(head(projections, h, first, last), Target::softmax).output;
  });
  return context;
}

arma::mat Model::output(const arma::mat& x, const arma::mat& context, arma::uword layer) const {
  require_layer(layer, config_);
  require_size(x, "x", x.n_rows, config_.hidden);
  require_size(context, "context", x.n_rows, config_.heads * config_.p());
  return architecture_->output(x, context, layer);
}

arma::mat Model::last_hidden(arma::mat x) const {
  require_size(x, "x", x.n_rows, config_.hidden);
  return architecture_->last_hidden(std::move(x));
}

void Model::require_language_head() const {
  architecture_->require_language_head();
  logits(arma::mat(1, config_.hidden, arma::fill::zeros));  // reads the numbers of all tensors of the head
}

arma::mat Model::logits(const arma::mat& hidden) const {
  require_size(hidden, "hidden", hidden.n_rows, config_.hidden);
  return architecture_->logits(hidden);
}

arma::mat Model::hidden(const TokenIds& ids, arma::uword layer) const {
  require(layer <= config_.layers, "Model", "layer <= layers", {{"layer", layer}, {"layers", config_.layers}});
  const TokenWindows tokens = in_windows(ids, config_.positions);
  arma::mat x = embed(tokens);
  for (arma::uword l = 0; l < layer; ++l) x = output(x, attend(project(x, l, tokens), tokens), l);
  return x;
}

ModelHeads::ModelHeads(Model model, std::function<TokenWindows(arma::uword)> sequence)
    : model_(std::move(model)), sequence_(std::move(sequence)) {}

Problem<double> ModelHeads::head(arma::uword sequence, arma::uword layer, arma::uword head) {
  const ModelConfig& config = model_.config();
  require(layer < config.layers && head < config.heads, "ModelHeads", "layer < layers, head < heads",
          {{"layer", layer}, {"layers", config.layers}, {"head", head}, {"heads", config.heads}});
  if (number_ != sequence || layer < layer_) {
    number_.reset();
    tokens_ = sequence_(sequence);
    x_ = model_.embed(tokens_);
    layer_ = 0;
    projections_ = model_.project(x_, layer_, tokens_);
    number_ = sequence;
  }
  while (layer_ < layer) {
    arma::mat next = model_.output(x_, model_.attend(projections_, tokens_), layer_);
    projections_ = model_.project(next, layer_ + 1, tokens_);
    x_ = std::move(next);
    ++layer_;
  }
  return model_.head(projections_, head);
}

}  // namespace croquis
