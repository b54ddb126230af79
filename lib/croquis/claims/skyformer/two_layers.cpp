#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/claims/skyformer/two_layers.hpp>
#include <croquis/random/draws.hpp>

namespace croquis::claims {
namespace {

constexpr arma::uword kLayers = 2, kOfLayer = 6;
constexpr double kSmallVariance = 1e-5;  // as PyTorch's LayerNorm has it

// Rows less their mean over the root of their mean square, and that root.
struct Normed {
  arma::mat rows;
  arma::vec root;
};

Normed layer_norm(const arma::mat& x) {
  const arma::mat centred = x.each_col() - arma::mean(x, 1);
  const arma::vec root = arma::sqrt(arma::mean(arma::square(centred), 1) + kSmallVariance);
  return {centred.each_col() / root, root};
}

arma::mat layer_norm_adjoint(const Normed& normed, const arma::mat& cotangent) {
  const arma::vec along = arma::mean(cotangent % normed.rows, 1);
  arma::mat result = cotangent.each_col() - arma::mean(cotangent, 1);
  result -= normed.rows.each_col() % along;
  return result.each_col() / normed.root;
}

// 0 with the probability of dropout, else one over the probability of being kept; ones without a key.
arma::mat dropout_mask(const std::optional<Key>& dropout, arma::uword layer, const char* place, arma::uword rows,
                       arma::uword columns) {
  arma::mat mask(rows, columns, arma::fill::ones);
  if (!dropout) return mask;
  std::vector<std::uint64_t> words(mask.n_elem);
  fill_words(dropout->child(layer).child(place), 0, words.size(), words.data());
  for (arma::uword i = 0; i < mask.n_elem; ++i) {
    mask[i] = place_of(words[i], TwoLayers::kOneIn) == 0 ? 0 : 1 / (1 - 1.0 / TwoLayers::kOneIn);
  }
  return mask;
}

}  // namespace

struct TwoLayers::LayerPass {
  Normed attended, fed;
  arma::mat q, k, v, heads, inner;
  arma::mat attention_mask, inner_mask, back_mask;
};

TwoLayers::TwoLayers(const Sizes& sizes, Target target, const Key& draw_key) : sizes_(sizes), target_(target) {
  const auto add = [&](arma::uword rows, arma::uword columns, double deviation) {
    arma::mat weight(rows, columns);
    fill_normal(draw_key.child(weights_.size()), 0, weight.n_elem, weight.memptr());
    weights_.emplace_back(deviation * weight);
  };
  const auto linear = [&](arma::uword rows, arma::uword columns) {
    add(rows, columns, 1 / std::sqrt(3 * static_cast<double>(rows)));
  };
  constexpr double embedded = 0.02;
  add(sizes.words, sizes.width, embedded);
  add(sizes.tokens, sizes.width, embedded);
  for (arma::uword layer = 0; layer < kLayers; ++layer) {
    for (int i = 0; i < 4; ++i) linear(sizes.width, sizes.width);
    linear(sizes.width, sizes.inner);
    linear(sizes.inner, sizes.width);
  }
  linear(sizes.width, sizes.classes);
  first_moment_ = second_moment_ = zeros();
}

std::vector<arma::mat> TwoLayers::zeros() const {
  std::vector<arma::mat> result;
  for (const arma::mat& weight : weights_) result.emplace_back(arma::size(weight), arma::fill::zeros);
  return result;
}

arma::mat TwoLayers::run(const arma::uvec& codes, const std::optional<Key>& dropout,
                         std::vector<LayerPass>& passes) const {
  const arma::uword n = codes.n_elem;
  arma::mat x = weights_[0].rows(codes) + weights_[1].head_rows(n);
  for (arma::uword layer = 0; layer < kLayers; ++layer) {
    const arma::mat* w = &weights_[2 + kOfLayer * layer];
    LayerPass pass;
    pass.attended = layer_norm(x);
    pass.q = pass.attended.rows * w[0];
    pass.k = pass.attended.rows * w[1];
    pass.v = pass.attended.rows * w[2];
    pass.heads = exact_attention(Problem<double>(pass.q, pass.k, pass.v), target_).output / divisor_;
    pass.attention_mask = dropout_mask(dropout, layer, "attention", n, sizes_.width);
    x += pass.attention_mask % (pass.heads * w[3]);
    pass.fed = layer_norm(x);
    pass.inner_mask = dropout_mask(dropout, layer, "inner", n, sizes_.inner);
    pass.inner = pass.fed.rows * w[4];
    pass.inner.transform([](double value) { return std::max(value, 0.0); });
    pass.inner %= pass.inner_mask;
    pass.back_mask = dropout_mask(dropout, layer, "back", n, sizes_.width);
    x += pass.back_mask % (pass.inner * w[5]);
    passes.push_back(std::move(pass));
  }
  return x;
}

TwoLayers::Embedding TwoLayers::embed(const arma::uvec& codes, const std::optional<Key>& dropout) const {
  std::vector<LayerPass> passes;
  arma::mat before = run(codes, dropout, passes);
  arma::mat after = layer_norm(before).rows;
  return {std::move(before), std::move(after)};
}

double TwoLayers::add_gradient(const arma::uvec& codes, arma::uword label, const std::optional<Key>& dropout,
                               std::vector<arma::mat>& gradient) const {
  std::vector<LayerPass> passes;
  const arma::mat x = run(codes, dropout, passes);
  const Normed last = layer_norm(x);
  const arma::rowvec pooled = arma::mean(last.rows, 0);
  const arma::rowvec logits = pooled * weights_.back();
  arma::rowvec share = arma::exp(logits - logits.max());
  share /= arma::accu(share);
  const double loss = -std::log(share[label]);
  share[label] -= 1;
  gradient.back() += pooled.t() * share;

  const auto n = static_cast<double>(codes.n_elem);
  const arma::rowvec of_pooled = share * weights_.back().t() / n;
  arma::mat dx = layer_norm_adjoint(last, arma::repmat(of_pooled, codes.n_elem, 1));
  for (arma::uword layer = kLayers; layer-- > 0;) {
    const arma::mat* w = &weights_[2 + kOfLayer * layer];
    arma::mat* g = &gradient[2 + kOfLayer * layer];
    const LayerPass& pass = passes[layer];
    const arma::mat back = pass.back_mask % dx;
    g[5] += pass.inner.t() * back;
    // What relu or the mask has set to zero stays zero; the mask's factor is in the derivative once.
    const arma::mat inner = (back * w[5].t()) % pass.inner_mask % arma::conv_to<arma::mat>::from(pass.inner > 0);
    g[4] += pass.fed.rows.t() * inner;
    dx += layer_norm_adjoint(pass.fed, inner * w[4].t());

    const arma::mat out = pass.attention_mask % dx;
    g[3] += pass.heads.t() * out;
    const Gradient<double> by =
        exact_adjoint(Problem<double>(pass.q, pass.k, pass.v), target_)(out * w[3].t() / divisor_);
    g[0] += pass.attended.rows.t() * by.q;
    g[1] += pass.attended.rows.t() * by.k;
    g[2] += pass.attended.rows.t() * by.v;
    dx += layer_norm_adjoint(pass.attended, by.q * w[0].t() + by.k * w[1].t() + by.v * w[2].t());
  }
  for (arma::uword i = 0; i < codes.n_elem; ++i) gradient[0].row(codes[i]) += dx.row(i);
  gradient[1].head_rows(codes.n_elem) += dx;
  return loss;
}

double TwoLayers::step(const std::vector<arma::mat>& gradient, double rate) {
  constexpr double first = 0.9, second = 0.999, small = 1e-8;
  ++steps_;
  double squares = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    first_moment_[i] = first * first_moment_[i] + (1 - first) * gradient[i];
    second_moment_[i] = second * second_moment_[i] + (1 - second) * arma::square(gradient[i]);
    const arma::mat root = arma::sqrt(second_moment_[i] / (1 - std::pow(second, steps_)));
    const arma::mat change = rate / (1 - std::pow(first, steps_)) * first_moment_[i] / (root + small);
    weights_[i] -= change;
    squares += arma::accu(arma::square(change));
  }
  return std::sqrt(squares);
}

}  // namespace croquis::claims
