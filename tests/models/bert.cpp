#include <doctest/doctest.h>
#include <croquis/core/threads.hpp>
#include <croquis/models/model.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "support/bert_model.hpp"
#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// Weights are below 4, most below 1, and rows have 8 or 12 entries: an entry of a layer is the result of some hundred
// roundings of numbers below 50, 5,000 u = 6e-13. LayerNorm divides by deviations above 0.1, so that an error grows by
// a factor of a few tens a layer at most: 30^3 over three layers.
constexpr double kTorchBound = 2e-8;

struct Reference {
  const BertModel& model;
  Activation activation = Activation::gelu;

  Dense tensor(const std::string& name) const { return Dense(model.tensors.at(name)); }

  Dense linear(const Dense& x, const std::string& name) const {
    const Dense w = tensor(name + ".weight"), b = tensor(name + ".bias");
    Dense y(x.rows, w.rows);
    for (arma::uword i = 0; i < y.rows; ++i) {
      for (arma::uword j = 0; j < y.cols; ++j) {
        y(i, j) = b(0, j);
        for (arma::uword k = 0; k < x.cols; ++k) y(i, j) += x(i, k) * w(j, k);
      }
    }
    return y;
  }

  Dense norm(Dense x, const std::string& name) const {
    const Dense w = tensor(name + ".weight"), b = tensor(name + ".bias");
    for (arma::uword i = 0; i < x.rows; ++i) {
      long double mean = 0, variance = 0;
      for (arma::uword j = 0; j < x.cols; ++j) mean += x(i, j) / x.cols;
      for (arma::uword j = 0; j < x.cols; ++j) variance += (x(i, j) - mean) * (x(i, j) - mean) / x.cols;
      REQUIRE(variance > 0.01L);
      const long double deviation = std::sqrt(variance + static_cast<long double>(model.config.layer_norm_epsilon));
      for (arma::uword j = 0; j < x.cols; ++j) x(i, j) = (x(i, j) - mean) / deviation * w(0, j) + b(0, j);
    }
    return x;
  }

  long double activate(long double t) const {
    if (activation == Activation::relu) return std::max(t, 0.0L);
    if (activation == Activation::gelu) return t / 2 * (1 + std::erf(t / std::numbers::sqrt2_v<long double>));
    const long double pi = std::numbers::pi_v<long double>;
    return t / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (t + 0.044715L * t * t * t)));
  }

  Dense embed(const TokenIds& ids) const {
    const Dense words = tensor("embeddings.word_embeddings.weight"),
                positions = tensor("embeddings.position_embeddings.weight"),
                types = tensor("embeddings.token_type_embeddings.weight");
    Dense x(ids.size(), words.cols);
    for (arma::uword i = 0; i < x.rows; ++i) {
      for (arma::uword j = 0; j < x.cols; ++j) {
        x(i, j) = words(ids[i], j) + positions(i % model.config.positions, j) + types(0, j);
      }
    }
    return norm(x, "embeddings.LayerNorm");
  }

  // Token i sees the tokens of its piece.
  Dense attend(const Dense& q, const Dense& k, const Dense& v) const {
    const arma::uword p = q.cols / model.config.heads, piece = model.config.positions;
    Dense out(q.rows, q.cols);
    for (arma::uword h = 0; h < model.config.heads; ++h) {
      for (arma::uword i = 0; i < q.rows; ++i) {
        const arma::uword first = i / piece * piece, end = std::min(first + piece, q.rows);
        long double sum = 0;
        for (arma::uword j = first; j < end; ++j) {
          long double score = 0;
          for (arma::uword c = h * p; c < (h + 1) * p; ++c) score += q(i, c) * k(j, c);
          const long double weight = std::exp(score / std::sqrt(static_cast<long double>(p)));
          sum += weight;
          for (arma::uword c = h * p; c < (h + 1) * p; ++c) out(i, c) += weight * v(j, c);
        }
        for (arma::uword c = h * p; c < (h + 1) * p; ++c) out(i, c) /= sum;
      }
    }
    return out;
  }

  Dense project(const Dense& x, arma::uword layer, const char* part) const {
    return linear(x, "encoder.layer." + std::to_string(layer) + ".attention.self." + part);
  }

  Dense hidden(const TokenIds& ids, arma::uword layer) const {
    Dense x = embed(ids);
    for (arma::uword l = 0; l < layer; ++l) {
      const std::string name = "encoder.layer." + std::to_string(l) + ".";
      const Dense a = attend(project(x, l, "query"), project(x, l, "key"), project(x, l, "value"));
      const Dense y = norm(x + linear(a, name + "attention.output.dense"), name + "attention.output.LayerNorm");
      Dense z = linear(y, name + "intermediate.dense");
      for (long double& t : z.entries) t = activate(t);
      x = norm(y + linear(z, name + "output.dense"), name + "output.LayerNorm");
    }
    return x;
  }
};

const TokenIds kPieceIds = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 19};  // pieces of 7, 7 and 3

Model encoder_of(const BertModel& model, const std::string& type = "F32", const std::string& prefix = "bert.") {
  return {SafeTensors(model.file(type, prefix), "m.safetensors"), model.config};
}

// Of one sequence.
ModelHeads heads_of(const Model& model, const TokenIds& ids = kPieceIds) {
  return {model, [=, positions = model.config().positions](arma::uword) { return in_windows(ids, positions); }};
}

Dense columns(const Dense& x, arma::uword first, arma::uword count) {
  Dense part(x.rows, count);
  for (arma::uword i = 0; i < x.rows; ++i) {
    for (arma::uword j = 0; j < count; ++j) part(i, j) = x(i, first + j);
  }
  return part;
}

std::string one_line(const std::string& message) {
  CHECK(message.find('\n') == std::string::npos);
  return message;
}

}  // namespace

TEST_CASE("bert: hidden states and all heads of all layers are those of a plain encoder, piece by piece") {
  BertModel model("plain");
  for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    model.config.activation = activation;
    const Model encoder = encoder_of(model);
    const Reference reference{model, activation};
    CHECK(encoder.vocabulary() == 20);
    for (arma::uword l = 0; l <= 3; ++l) {
      CHECK(distance(encoder.hidden(kPieceIds, l), reference.hidden(kPieceIds, l)) <= kTorchBound);
    }
    ModelHeads heads = heads_of(encoder);
    for (const arma::uword layer : {2, 0, 1}) {
      const Dense x = reference.hidden(kPieceIds, layer);
      for (const arma::uword head : {1, 0}) {
        const Problem<double> problem = heads.head(0, layer, head);
        const auto is_part = [&](const arma::mat& m, const char* part) {
          return distance(m, columns(reference.project(x, layer, part), 4 * head, 4)) <= kTorchBound;
        };
        CHECK(is_part(problem.Q(), "query"));
        CHECK(is_part(problem.K(), "key"));
        CHECK(is_part(problem.V(), "value"));
        CHECK(!problem.is_causal());
      }
    }
  }
}

TEST_CASE("bert: each activation is told from the others, and pieces from one long text") {
  BertModel model("mutants");
  const Model encoder = encoder_of(model);
  CHECK(distance(encoder.hidden(kPieceIds, 1), Reference{model, Activation::gelu}.hidden(kPieceIds, 1)) <= kTorchBound);
  CHECK(distance(encoder.hidden(kPieceIds, 1), Reference{model, Activation::gelu_tanh}.hidden(kPieceIds, 1)) >
        100 * kTorchBound);
  CHECK(distance(encoder.hidden(kPieceIds, 1), Reference{model, Activation::relu}.hidden(kPieceIds, 1)) > 1e-3);
  // A piece is what it is alone; with a token more it is another.
  const arma::mat all = encoder.hidden(kPieceIds, 3);
  CHECK(distance(arma::mat(all.rows(7, 13)), encoder.hidden({6, 5, 3, 5, 8, 9, 7}, 3)) <= kTorchBound);
  CHECK(distance(arma::mat(all.rows(14, 16)), encoder.hidden({9, 3, 19}, 3)) <= kTorchBound);
  CHECK(distance(arma::mat(all.rows(14, 15)), encoder.hidden({9, 3}, 3)) > 1e-3);
  model.config.layer_norm_epsilon = 1e-12;
  CHECK(distance(encoder_of(model).hidden(kPieceIds, 0), encoder.hidden(kPieceIds, 0)) > 1e-5);
}

TEST_CASE("bert: types, names and threads make no difference, to the last bit") {
  BertModel model("types");
  const arma::mat expected = encoder_of(model).hidden(kPieceIds, 3);
  for (const char* type : {"F32", "F16", "BF16"}) {
    for (const char* prefix : {"", "bert."}) {
      CAPTURE(type);
      CAPTURE(prefix);
      CHECK(identical(encoder_of(model, type, prefix).hidden(kPieceIds, 3), expected));
    }
  }
  set_threads(1);
  CHECK(identical(encoder_of(model).hidden(kPieceIds, 3), expected));
  set_threads(0);
  // As TensorFlow has it.
  BertModel old = model;
  for (const auto& [name, m] : model.tensors) {
    const std::size_t at = name.find("LayerNorm.");
    if (at == std::string::npos) continue;
    old.tensors.erase(name);
    old.tensors[name.substr(0, at + 10) + (name.ends_with("weight") ? "gamma" : "beta")] = m;
  }
  CHECK(identical(encoder_of(old).hidden(kPieceIds, 3), expected));
}

TEST_CASE("bert: heads are the same in any order, and those of a sequence are its own") {
  const BertModel model("order");
  const Model encoder = encoder_of(model);
  const TokenIds other = {4, 4, 1};
  ModelHeads heads(encoder, [&](arma::uword sequence) { return in_windows(sequence == 0 ? kPieceIds : other, 7); });
  const auto is_same = [](const Problem<double>& a, const Problem<double>& b) {
    return identical(a.Q(), b.Q()) && identical(a.K(), b.K()) && identical(a.V(), b.V());
  };
  struct Place {
    arma::uword sequence, layer, head;
  };
  for (const auto& [sequence, layer, head] : {Place{0, 2, 1}, {0, 0, 0}, {1, 0, 0}, {1, 2, 1}, {0, 2, 0}, {0, 1, 1}}) {
    ModelHeads alone = heads_of(encoder, sequence == 0 ? kPieceIds : other);
    const Problem<double> expected = alone.head(0, layer, head);
    CHECK(is_same(heads.head(sequence, layer, head), expected));
    CHECK(expected.n() == (sequence == 0 ? kPieceIds.size() : 3));
    CHECK(expected.p() == 4);
  }
  CHECK_THROWS_AS(heads.head(0, 3, 0), std::invalid_argument);
  CHECK_THROWS_AS(heads.head(0, 0, 2), std::invalid_argument);
}

TEST_CASE("bert: a missing tensor and a wrong shape are refused in one line with its name") {
  const BertModel model("damaged");
  for (const auto& [name, m] : model.tensors) {
    CAPTURE_BINDING(name);
    BertModel without = model, other = model;
    without.tensors.erase(name);
    const std::string missing = one_line(refusal([&] { encoder_of(without); }));
    CHECK(contains(missing, "m.safetensors: has no tensor '"));
    CHECK(contains(missing, name));
    if (name == "embeddings.word_embeddings.weight") continue;  // any number of words is right
    other.tensors[name] = arma::mat(m.n_rows, m.n_cols + 1);
    const std::string wrong = one_line(refusal([&] { encoder_of(other); }));
    CHECK(contains(wrong, "m.safetensors: tensor 'bert." + name + "' is ["));
    CHECK(contains(wrong, "the configuration calls for ["));
  }
  BertModel narrow = model;
  narrow.tensors["embeddings.word_embeddings.weight"] = arma::mat(20, 7);
  CHECK(contains(refusal([&] { encoder_of(narrow); }), "is [20, 7]; the configuration calls for [20, 8]"));
  BertModel nan = model;
  nan.tensors["encoder.layer.1.output.dense.bias"](2) = arma::datum::nan;
  CHECK(contains(refusal([&] { encoder_of(nan).hidden(kPieceIds, 2); }),
                 "tensor 'bert.encoder.layer.1.output.dense.bias' has NaN"));
}

TEST_CASE("bert: ids, layers and heads that there are not are refused") {
  const BertModel model("arguments");
  const Model encoder = encoder_of(model);
  CHECK(contains(refusal([&] { encoder.hidden({}, 0); }), "at least one token"));
  CHECK(contains(refusal([&] { encoder.hidden({1, 20}, 0); }), "got id = 20, token = 1, word embeddings = 20"));
  CHECK(contains(refusal([&] { encoder.hidden({1}, 4); }), "layer = 4"));
  CHECK(contains(refusal([&] { heads_of(encoder).head(0, 3, 0); }), "layer = 3"));
  CHECK(contains(refusal([&] { heads_of(encoder).head(0, 0, 2); }), "head = 2"));
  CHECK(contains(refusal([&] { encoder.embed({TokenIds(8, 1), {8}}); }), "tokens = 8, positions = 7"));
}
