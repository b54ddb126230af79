#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/bert.hpp>
#include <croquis/io/bytes.hpp>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kRowBlock = 128;

const std::string kWords = "embeddings.word_embeddings.weight";

std::string layer_name(arma::uword layer, const char* part) {
  return fmt::format("encoder.layer.{}.{}", layer, part);
}

std::string shown(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", excerpt(fmt::format("{}", fmt::join(shape, ", "))));
}

}  // namespace

BertEncoder::BertEncoder(SafeTensors weights, const BertConfig& config)
    : weights_(std::move(weights)), config_(config) {
  require(config.hidden >= 1 && config.heads >= 1 && config.hidden % config.heads == 0 && config.positions >= 1,
          "BertEncoder", "hidden, heads, positions >= 1, hidden a multiple of heads",
          {{"hidden", config.hidden}, {"heads", config.heads}, {"positions", config.positions}});
  if (weights_.has("bert." + kWords)) prefix_ = "bert.";
  if (!weights_.has(prefix_ + kWords)) {
    refuse_file(weights_.name(), fmt::format("has no tensor '{}', nor with 'bert.' before it", kWords));
  }
  require_shapes();
}

// Checks all tensors that the encoder needs before anything is computed.
void BertEncoder::require_shapes() {
  using Shape = std::vector<std::uint64_t>;
  const auto has = [&](const std::string& tensor, const Shape& wanted) {
    const Shape& shape = weights_.shape(prefix_ + tensor);
    if (shape != wanted) {
      refuse_file(weights_.name(), fmt::format("tensor '{}' is {}; the configuration calls for {}", prefix_ + tensor,
                                               shown(shape), shown(wanted)));
    }
  };
  const auto has_linear = [&](const std::string& name, arma::uword out, arma::uword in) {
    has(name + ".weight", {out, in});
    has(name + ".bias", {out});
  };
  const auto has_norm = [&](const std::string& name) {
    for (const bool weight : {true, false}) has(norm_part(name, weight), {config_.hidden});
  };
  const arma::uword hidden = config_.hidden;
  const Shape& words = weights_.shape(prefix_ + kWords);
  vocabulary_ = words.empty() ? 0 : words[0];
  has(kWords, {vocabulary_, hidden});
  has("embeddings.position_embeddings.weight", {config_.positions, hidden});
  has("embeddings.token_type_embeddings.weight", {config_.token_types, hidden});
  has_norm("embeddings.LayerNorm");
  for (arma::uword layer = 0; layer < config_.layers; ++layer) {
    for (const char* part :
         {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"}) {
      has_linear(layer_name(layer, part), hidden, hidden);
    }
    has_norm(layer_name(layer, "attention.output.LayerNorm"));
    has_linear(layer_name(layer, "intermediate.dense"), config_.intermediate, hidden);
    has_linear(layer_name(layer, "output.dense"), hidden, config_.intermediate);
    has_norm(layer_name(layer, "output.LayerNorm"));
  }
}

// Weights converted from TensorFlow are named gamma and beta.
std::string BertEncoder::norm_part(const std::string& norm, bool weight) const {
  const std::string old = norm + (weight ? ".gamma" : ".beta");
  return weights_.has(prefix_ + old) ? old : norm + (weight ? ".weight" : ".bias");
}

arma::mat BertEncoder::linear(const arma::mat& x, const std::string& name) const {
  const arma::mat weight = weights_.matrix(prefix_ + name + ".weight").t();
  const arma::rowvec bias = weights_.matrix(prefix_ + name + ".bias");
  arma::mat y(x.n_rows, weight.n_cols);
  parallel_for((x.n_rows + kRowBlock - 1) / kRowBlock, [&](std::size_t b) {
    const arma::uword first = b * kRowBlock, last = std::min(first + kRowBlock, x.n_rows) - 1;
    arma::mat rows = x.rows(first, last) * weight;
    rows.each_row() += bias;
    y.rows(first, last) = rows;
  });
  return y;
}

void BertEncoder::normalise(arma::mat& x, const std::string& name) const {
  x.each_col() -= arma::vec(arma::mean(x, 1));
  x.each_col() /= arma::vec(arma::sqrt(arma::mean(arma::square(x), 1) + config_.layer_norm_epsilon));
  x.each_row() %= arma::rowvec(weights_.matrix(prefix_ + norm_part(name, true)));
  x.each_row() += arma::rowvec(weights_.matrix(prefix_ + norm_part(name, false)));
}

arma::mat BertEncoder::embed(const TokenIds& ids) const {
  require(!ids.empty(), "BertEncoder", "at least one token");
  const arma::mat words = weights_.matrix(prefix_ + kWords),
                  positions = weights_.matrix(prefix_ + "embeddings.position_embeddings.weight"),
                  types = weights_.matrix(prefix_ + "embeddings.token_type_embeddings.weight");
  arma::mat x(ids.size(), config_.hidden);
  for (arma::uword i = 0; i < x.n_rows; ++i) {
    require(ids[i] < vocabulary_, "BertEncoder", "ids below the number of word embeddings",
            {{"id", ids[i]}, {"token", i}, {"word embeddings", vocabulary_}});
    x.row(i) = words.row(ids[i]) + positions.row(i % config_.positions) + types.row(0);
  }
  normalise(x, "embeddings.LayerNorm");
  return x;
}

BertEncoder::Projections BertEncoder::project(const arma::mat& x, arma::uword layer) const {
  return {linear(x, layer_name(layer, "attention.self.query")), linear(x, layer_name(layer, "attention.self.key")),
          linear(x, layer_name(layer, "attention.self.value"))};
}

// Each head of each piece separately.
arma::mat BertEncoder::attend(const Projections& projections) const {
  const arma::uword n = projections.q.n_rows, p = config_.hidden / config_.heads;
  const arma::uword pieces = (n + config_.positions - 1) / config_.positions;
  arma::mat context(n, config_.hidden);
  parallel_for(pieces * config_.heads, [&](std::size_t task) {
    const arma::uword top = task / config_.heads * config_.positions, left = task % config_.heads * p;
    const arma::span rows(top, std::min(top + config_.positions, n) - 1), cols(left, left + p - 1);
    const Problem<double> head(projections.q(rows, cols), projections.k(rows, cols), projections.v(rows, cols));
    context(rows, cols) = exact_attention(head, Target::softmax).output;
  });
  return context;
}

arma::mat BertEncoder::output(const arma::mat& x, const Projections& projections, arma::uword layer) const {
  arma::mat y = x + linear(attend(projections), layer_name(layer, "attention.output.dense"));
  normalise(y, layer_name(layer, "attention.output.LayerNorm"));
  arma::mat z = linear(y, layer_name(layer, "intermediate.dense"));
  apply(config_.activation, z);
  z = y + linear(z, layer_name(layer, "output.dense"));
  normalise(z, layer_name(layer, "output.LayerNorm"));
  return z;
}

arma::mat BertEncoder::hidden(const TokenIds& ids, arma::uword layer) const {
  require(layer <= config_.layers, "BertEncoder", "layer <= layers", {{"layer", layer}, {"layers", config_.layers}});
  arma::mat x = embed(ids);
  for (arma::uword l = 0; l < layer; ++l) x = output(x, project(x, l), l);
  return x;
}

std::vector<BertHead> BertEncoder::heads(const TokenIds& ids, const std::vector<arma::uword>& layers,
                                         const std::vector<arma::uword>& heads) const {
  for (const arma::uword l : layers) {
    require(l < config_.layers, "BertEncoder", "layer < layers", {{"layer", l}, {"layers", config_.layers}});
  }
  for (const arma::uword h : heads) {
    require(h < config_.heads, "BertEncoder", "head < heads", {{"head", h}, {"heads", config_.heads}});
  }
  std::vector<std::vector<BertHead>> found(layers.size());
  if (layers.empty() || heads.empty()) return {};
  const arma::uword last = *std::max_element(layers.begin(), layers.end()), p = config_.hidden / config_.heads;
  arma::mat x = embed(ids);
  for (arma::uword l = 0;; ++l) {
    const Projections projections = project(x, l);
    for (std::size_t place = 0; place < layers.size(); ++place) {
      if (layers[place] != l) continue;
      for (const arma::uword h : heads) {
        const arma::span rows = arma::span::all, cols(h * p, (h + 1) * p - 1);
        found[place].push_back(
            {l, h, Problem<double>(projections.q(rows, cols), projections.k(rows, cols), projections.v(rows, cols))});
      }
    }
    if (l == last) break;
    x = output(x, projections, l);
  }
  std::vector<BertHead> all;
  for (auto& of_layer : found) all.insert(all.end(), of_layer.begin(), of_layer.end());
  return all;
}

BertHeads::BertHeads(BertEncoder encoder, TokenIds ids) : encoder_(std::move(encoder)), ids_(std::move(ids)) {}

Problem<double> BertHeads::head(arma::uword layer, arma::uword head) {
  const BertConfig& config = encoder_.config();
  require(layer < config.layers && head < config.heads, "BertHeads", "layer < layers, head < heads",
          {{"layer", layer}, {"layers", config.layers}, {"head", head}, {"heads", config.heads}});
  if (!projections_ || layer < layer_) {
    x_ = encoder_.embed(ids_);
    layer_ = 0;
    projections_ = encoder_.project(x_, layer_);
  }
  while (layer_ < layer) {
    x_ = encoder_.output(x_, *projections_, layer_);
    ++layer_;
    projections_ = encoder_.project(x_, layer_);
  }
  const arma::uword p = config.hidden / config.heads;
  const arma::span rows = arma::span::all, cols(head * p, (head + 1) * p - 1);
  return {projections_->q(rows, cols), projections_->k(rows, cols), projections_->v(rows, cols)};
}

Problem<double> BertEncoder::qkv(const TokenIds& ids, arma::uword layer, arma::uword head) const {
  return heads(ids, {layer}, {head}).front().problem;
}

}  // namespace croquis
