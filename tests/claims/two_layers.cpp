// The small transformer of sky.instability: against a dense reference, differences, and Adam's first step.
#include <doctest/doctest.h>
#include <croquis/claims/skyformer/two_layers.hpp>

#include <cmath>

#include "support/dense.hpp"
#include "support/seed.hpp"

using croquis::Key;
using croquis::Target;
using croquis::claims::TwoLayers;

namespace {

constexpr TwoLayers::Sizes kSmallModel = {.tokens = 9, .width = 6, .inner = 7, .words = 5, .classes = 3};
const arma::uvec kSequence = {3, 0, 4, 4, 1, 2, 0};

arma::rowvec normed_token(const arma::rowvec& x) {
  const arma::rowvec centred = x - arma::mean(x);
  return centred / std::sqrt(arma::mean(centred % centred) + 1e-5);
}

arma::mat normed_tokens(arma::mat x) {
  for (arma::uword i = 0; i < x.n_rows; ++i) x.row(i) = normed_token(x.row(i));
  return x;
}

// Token by token, the scores one after the other.
arma::mat dense_embedding(std::vector<arma::mat>& w, Target target) {
  arma::mat x(kSequence.n_elem, kSmallModel.width);
  for (arma::uword i = 0; i < x.n_rows; ++i) x.row(i) = w[0].row(kSequence[i]) + w[1].row(i);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const arma::mat* of = &w[2 + 6 * layer];
    const arma::mat y = normed_tokens(x), q = y * of[0], k = y * of[1], v = y * of[2];
    const double root = std::sqrt(static_cast<double>(kSmallModel.width));
    for (arma::uword i = 0; i < x.n_rows; ++i) {
      arma::rowvec sum(kSmallModel.width, arma::fill::zeros);
      double total = 0;
      for (arma::uword j = 0; j < x.n_rows; ++j) {
        const double score = target == Target::softmax
                                 ? std::exp(arma::dot(q.row(i), k.row(j)) / root)
                                 : std::exp(-std::pow(arma::norm(q.row(i) - k.row(j)), 2) / (2 * root));
        sum += score * v.row(j);
        total += score;
      }
      if (target == Target::softmax) sum /= total;
      x.row(i) += sum * of[3];
    }
    const arma::mat inner = normed_tokens(x) * of[4];
    x += (inner % arma::conv_to<arma::mat>::from(inner > 0)) * of[5];
  }
  return x;
}

}  // namespace

TEST_CASE("TwoLayers: the embedding is that of a dense reference") {
  for (const Target target : {Target::softmax, Target::kernelized}) {
    TwoLayers model(kSmallModel, target, Key(test_seed()).child("two layers"));
    const auto found = model.embed(kSequence, {});
    const arma::mat expected = dense_embedding(model.weights(), target);
    CHECK(distance(found.before, expected) < 1e-12);
    CHECK(distance(found.after, normed_tokens(expected)) < 1e-10);
  }
}

TEST_CASE("TwoLayers: dropout depends on its key alone") {
  TwoLayers model(kSmallModel, Target::softmax, Key(test_seed()).child("two layers"));
  const Key mask = Key(test_seed()).child("mask");
  CHECK(arma::approx_equal(model.embed(kSequence, mask).after, model.embed(kSequence, mask).after, "absdiff", 0));
  CHECK(arma::abs(model.embed(kSequence, mask).after - model.embed(kSequence, mask.child(1)).after).max() > 1e-3);
}

TEST_CASE("TwoLayers: the gradient is that of differences, with and without dropout") {
  const Key key = Key(3).child("two layers");  // fixed: a difference across the corner of relu is none
  for (const Target target : {Target::softmax, Target::kernelized}) {
    for (const bool with_dropout : {false, true}) {
      TwoLayers model(kSmallModel, target, key);
      model.divide_attention(1.5);
      const std::optional<Key> mask = with_dropout ? std::optional(key.child("mask")) : std::nullopt;
      std::vector<arma::mat> gradient = model.zeros(), unused = model.zeros();
      model.add_gradient(kSequence, 2, mask, gradient);
      for (std::size_t w = 0; w < gradient.size(); ++w) {
        CAPTURE(w);
        double& weight = model.weights()[w](1, 2);
        const double kept = weight, step = 1e-6;
        weight = kept + step;
        const double above = model.add_gradient(kSequence, 2, mask, unused);
        weight = kept - step;
        const double below = model.add_gradient(kSequence, 2, mask, unused);
        weight = kept;
        CHECK(gradient[w](1, 2) == doctest::Approx((above - below) / (2 * step)).epsilon(1e-5).scale(1e-3));
      }
    }
  }
}

TEST_CASE("TwoLayers: Adam's first step moves every weight that has a derivative by the rate") {
  TwoLayers model(kSmallModel, Target::softmax, Key(test_seed()).child("two layers"));
  std::vector<arma::mat> gradient = model.zeros();
  double moved = 0;
  for (arma::mat& part : gradient) {
    part(0, 0) = -3;
    part(1, 1) = 1e-3;
    moved += 2;
  }
  const std::vector<arma::mat> before = model.weights();
  CHECK(model.step(gradient, 1e-2) == doctest::Approx(1e-2 * std::sqrt(moved)).epsilon(1e-4));
  CHECK(model.weights()[3](0, 0) - before[3](0, 0) == doctest::Approx(1e-2).epsilon(1e-4));
  CHECK(model.weights()[3](1, 0) == before[3](1, 0));
}
