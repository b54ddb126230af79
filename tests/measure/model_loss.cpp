#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/measure/model_loss.hpp>
#include <croquis/measure/model_summary.hpp>

#include <cmath>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "support/formula_model.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

const TokenIds kIds = {3, 1, 4, 1, 5, 9, 2, 6, 10};
// As torch_reference.py has them.
const std::vector<std::optional<std::uint32_t>> kLabels = {7, {}, 0, 10, {}, 5, 2, 1, {}};

Model model_of(const FormulaModel& model) {
  return {SafeTensors(model.file(), "m.safetensors"), parse_model_config(model.config, "config.json")};
}

MethodChoice method(const std::string& text) {
  if (text == "exact") return {"exact", {}, "paper"};
  return parse_methods(text).front();
}

struct ReplacedHeads {
  std::string name;
  std::vector<arma::uword> layers, heads;
};

// A pass with these heads replaced by one method.
template <typename T>
ModelRow row_of(const ModelOnSequence& pass, const ReplacedHeads& heads, const MethodChoice& choice, arma::uword d,
                const Key& key) {
  return pass.row<T>(same_replacement(heads.name, heads.layers, heads.heads, {choice, d}), key);
}

ReplacedHeads all_of(const Model& model) {
  ReplacedHeads all{"all", {}, {}};
  for (arma::uword l = 0; l < model.config().layers; ++l) all.layers.push_back(l);
  for (arma::uword h = 0; h < model.config().heads; ++h) all.heads.push_back(h);
  return all;
}

double loss_of(const Model& model, const arma::mat& last) {
  const arma::mat logits = model.logits(last);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < kLabels.size(); ++i) {
    if (!kLabels[i]) continue;
    double total = 0;
    for (arma::uword j = 0; j < logits.n_cols; ++j) total += std::exp(logits(i, j));
    sum += std::log(total) - logits(i, *kLabels[i]);
    ++count;
  }
  return sum / count;
}

// sum p log(p / q) over the vocabulary, p of the exact pass, mean over the counted positions.
double divergence_of(const Model& model, const arma::mat& exact, const arma::mat& approximate) {
  const arma::mat a = model.logits(exact), b = model.logits(approximate);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < kLabels.size(); ++i) {
    if (!kLabels[i]) continue;
    const double total_a = arma::accu(arma::exp(a.row(i))), total_b = arma::accu(arma::exp(b.row(i)));
    for (arma::uword j = 0; j < a.n_cols; ++j) {
      const double p = std::exp(a(i, j)) / total_a, q = std::exp(b(i, j)) / total_b;
      sum += p * std::log(p / q);
    }
    ++count;
  }
  return sum / count;
}

}  // namespace

TEST_CASE("model loss: with exact attention that of PyTorch, in float to float's precision") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    const Model model = model_of(reference);
    const ModelOnSequence pass(model, {kIds, kLabels});
    const double loss = reference.numbers.at("loss").at(0);
    const ModelRow row = row_of<double>(pass, all_of(model), method("exact"), 0, Key(1));
    CHECK(row.status == "ok");
    CHECK(row.tokens == 9);
    CHECK(row.counted == 6);
    CHECK(std::abs(row.loss - loss) <= 1e-11);
    CHECK(std::abs(row.loss_exact - loss) <= 1e-11);
    CHECK(row.agreement == 1);
    CHECK(std::abs(row.kl) <= 1e-14);
    CHECK(row.hidden_rel <= 1e-13);
    CHECK(row.flops == row.flops_exact);
    const ModelRow rough = row_of<float>(pass, all_of(model), method("exact"), 0, Key(1));
    CHECK(rough.precision == "float");
    CHECK(std::abs(rough.loss / loss - 1) <= 1e-4);
    CHECK(rough.hidden_rel > 1e-9);  // it is not the pass in double
    CHECK(rough.loss_exact == row.loss_exact);
  }
}

TEST_CASE("model loss: a method that is exact at d = n costs nothing, in all heads or some") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    const Model model = model_of(reference);
    const ModelOnSequence pass(model, {kIds, kLabels});
    for (const ReplacedHeads& heads : {all_of(model), ReplacedHeads{"1;heads=1", {1}, {1}}}) {
      const ModelRow row = row_of<double>(pass, heads, method("best-rank-d"), 9, Key(1));
      CHECK(row.status == "ok");
      CHECK(row.layers == heads.name);
      CHECK(std::abs(row.loss - row.loss_exact) <= 1e-10);
      CHECK(row.hidden_rel <= 1e-10);
    }
  }
}

TEST_CASE("model loss: one head of one layer is replaced, and its error goes on") {
  for (const char* name : {"bert", "albert"}) {
    CAPTURE(name);
    const Model model = model_of(formula_model(name));
    const arma::uword layers = model.config().layers;
    const ModelOnSequence pass(model, {kIds, kLabels});
    const ModelRow row = row_of<double>(pass, {"1;heads=1", {1}, {1}}, method("v-mean"), 1, Key(1));
    // The same by hand: the mean of the values for the context of head 1, columns 4 to 7.
    const TokenWindows tokens = in_windows(kIds, 9);
    arma::mat x = model.hidden(kIds, 1);
    const HeadProjections projections = model.project(x, 1, tokens);
    arma::mat context = model.attend(projections, tokens);
    for (arma::uword c = 4; c < 8; ++c) context.col(c).fill(arma::mean(projections.v.col(c)));
    x = model.output(x, context, 1);
    std::vector<double> errors = {0};
    for (arma::uword l = 2; l <= layers; ++l) {
      const arma::mat exact = model.hidden(kIds, l);
      errors.push_back(arma::norm(x - exact, "fro") / arma::norm(exact, "fro"));
      if (l < layers) x = model.output(x, model.attend(model.project(x, l, tokens), tokens), l);
    }
    CHECK(std::abs(row.loss - loss_of(model, x)) <= 1e-11);
    CHECK(std::abs(row.loss - row.loss_exact) > 1e-6);
    std::istringstream by_layer(row.by_layer);
    const std::vector<double> stored{std::istream_iterator<double>(by_layer), {}};
    REQUIRE(stored.size() == errors.size());
    for (std::size_t l = 0; l < errors.size(); ++l) CHECK(std::abs(stored[l] - errors[l]) <= 1e-12);
    const arma::mat exact = model.hidden(kIds, layers);
    CHECK(std::abs(row.hidden_rel - arma::norm(x - exact, "fro") / arma::norm(exact, "fro")) <= 1e-12);
    CHECK(std::abs(row.kl - divergence_of(model, exact, x)) <= 1e-11);
    CHECK(row.kl > 1e-6);
  }
}

TEST_CASE("model loss: each layer has the replacements of its own heads") {
  for (const char* name : {"bert", "albert"}) {
    CAPTURE(name);
    const Model model = model_of(formula_model(name));
    const ModelOnSequence pass(model, {kIds, kLabels});
    Replacement replaced = same_replacement("0;heads=0", {0}, {0}, {method("v-mean"), 1});
    replaced.heads.merge(same_replacement("1;heads=1", {1}, {1}, {method("v-mean"), 1}).heads);
    const ModelRow row = pass.row<double>(replaced, Key(1));
    // The same by hand: the mean of the values for head 0 in layer 0, columns 0 to 3, and for head 1 in layer 1.
    const TokenWindows tokens = in_windows(kIds, 9);
    arma::mat x = model.hidden(kIds, 0);
    for (arma::uword l = 0; l < model.config().layers; ++l) {
      const HeadProjections projections = model.project(x, l, tokens);
      arma::mat context = model.attend(projections, tokens);
      for (arma::uword c = 4 * l; l < 2 && c < 4 * l + 4; ++c) context.col(c).fill(arma::mean(projections.v.col(c)));
      x = model.output(x, context, l);
    }
    CHECK(row.status == "ok");
    CHECK(std::abs(row.loss - loss_of(model, x)) <= 1e-12);
    CHECK(std::abs(row.loss - row.loss_exact) > 1e-6);
  }
}

TEST_CASE("model loss: a choice is exact attention where d is more than the tokens, or saves no flops") {
  const Model model = model_of(formula_model("bert"));
  const ModelOnSequence pass(model, {kIds, kLabels});
  const ReplacedHeads all = all_of(model);
  const auto with = [&](arma::uword d, std::optional<double> limit) {
    return pass.row<double>(same_replacement("all", all.layers, all.heads, {method("linformer"), d, limit}), Key(1));
  };
  const ModelRow plain = with(2, {});
  const double ratio = plain.flops / plain.flops_exact;
  CHECK(with(2, 1.01 * ratio).loss == plain.loss);
  CHECK(std::abs(plain.loss - plain.loss_exact) > 1e-6);
  for (const ModelRow& row : {with(2, ratio), with(1000, 1e9)}) {
    CHECK(row.status == "ok");
    CHECK(row.loss == row.loss_exact);
    CHECK(row.flops == row.flops_exact);
  }
  CHECK(with(1000, {}).status != "ok");
}

TEST_CASE("model loss: a draw is that of its key, and each head has its own") {
  const Model model = model_of(formula_model("bert"));
  const ModelOnSequence pass(model, {kIds, kLabels});
  const auto loss = [&](const ReplacedHeads& heads, const Key& key) {
    return row_of<double>(pass, heads, method("linformer"), 3, key).loss;
  };
  const ReplacedHeads one{"0", {0}, {0}}, all = all_of(model);
  CHECK(loss(all, Key(1)) == loss(all, Key(1)));
  CHECK(loss(all, Key(1)) != loss(all, Key(2)));
  CHECK(loss(one, Key(1)) != loss(one, Key(2)));
}

TEST_CASE("model loss: a method that fails is a status with layer and head, and bad arguments are refused") {
  const Model model = model_of(formula_model("llama-tied"));
  const ModelOnSequence pass(model, {kIds, kLabels});
  const ModelRow row = row_of<double>(pass, all_of(model), method("nystromformer"), 3, Key(1));
  CHECK(row.status.starts_with("layer 0, head 0: "));
  CHECK(std::isnan(row.loss));
  CHECK(std::isnan(row.hidden_rel));
  CHECK(contains(refusal([&] { ModelOnSequence(model, {kIds, decltype(kLabels)(9)}); }), "a position with a label"));
  for (const std::size_t labels : {8, 10}) {
    std::vector<std::optional<std::uint32_t>> other = kLabels;
    other.resize(labels);
    CHECK(contains(refusal([&] {
                     ModelOnSequence(model, {kIds, other});
                   }),
                   fmt::format("labels = {}, tokens = 9", labels)));
  }
  std::vector<std::optional<std::uint32_t>> beyond = kLabels;
  beyond.at(3) = 11;
  CHECK(contains(refusal([&] {
                   ModelOnSequence(model, {kIds, std::move(beyond)});
                 }),
                 "label = 11, token = 3, word embeddings = 11"));
  CHECK(contains(refusal([&] {
                   row_of<double>(pass, {"", {}, {0}}, method("v-mean"), 1, Key(1));
                 }),
                 "at least one head"));
  // One head of the model too, so that there is something to replace.
  const arma::uword layers = model.config().layers, heads = model.config().heads;
  const auto replaced = [&](arma::uword layer, arma::uword head) {
    return refusal([&] { row_of<double>(pass, {"", {0, layer}, {0, head}}, method("v-mean"), 1, Key(1)); });
  };
  CHECK(contains(replaced(layers, 0), fmt::format("heads that the model has, got layer = {}", layers)));
  CHECK(contains(replaced(0, heads), fmt::format("head = {}, heads = {}", heads, heads)));
  CHECK(contains(refusal([&] {
                   row_of<double>(pass, {"", {layers + 9}, {0}}, method("v-mean"), 1, Key(1));
                 }),
                 "heads that the model has"));
}

TEST_CASE("model summary: means weigh positions, errors are between sequences, failures are left out") {
  const auto row = [](std::uint64_t sequence, std::uint64_t counted, std::uint64_t trial, double loss) {
    ModelRow r{.model = "m", .layers = "all", .method = "linformer", .preset = "paper"};
    r.features = 8;
    r.sequence = sequence;
    r.counted = counted;
    r.trial = trial;
    r.loss = loss;
    r.loss_exact = 1;
    r.flops = 10;
    r.flops_exact = 40;
    r.by_layer = sequence == 0 ? "0 2" : "0 4";
    return r;
  };
  std::vector<ModelRow> rows = {row(0, 1, 1, 2), row(0, 1, 2, 4), row(1, 3, 1, 5), row(1, 3, 2, 5), row(2, 2, 1, 1)};
  rows.back().status = "layer 0, head 0: lost";
  const std::vector<ModelSummary> summaries = summarise_models(rows);
  REQUIRE(summaries.size() == 1);
  const ModelSummary& s = summaries.front();
  CHECK(s.sequences == 2);
  CHECK(s.draws == 2);
  CHECK(s.counted == 4);
  CHECK(s.failed == 1);
  CHECK(s.loss == doctest::Approx(4.5));  // (1 x 3 + 3 x 5) / 4
  CHECK(s.increase == doctest::Approx(3.5));
  // sqrt(2/1 ((3 - 4.5)^2 + (3 (5 - 4.5))^2)) / 4
  CHECK(s.loss_error == doctest::Approx(std::sqrt(2 * (2.25 + 2.25)) / 4));
  CHECK(s.increase_error == doctest::Approx(s.loss_error));
  CHECK(s.flops_ratio == doctest::Approx(0.25));
  const std::vector<LayerError> layers = errors_by_layer(rows);
  REQUIRE(layers.size() == 2);
  CHECK(layers[1].layer == 1);
  CHECK(layers[1].passes == 4);
  CHECK(layers[1].hidden_rel == doctest::Approx(3));
  CHECK(layers[1].smallest == 2);
  CHECK(layers[1].largest == 4);

  // An output of zeros has no relative error, and one may be infinite: the other layers keep theirs.
  for (ModelRow& r : rows) r.by_layer = r.sequence == 0 ? "NA inf 2 NA" : "3 1 4 NA";
  const std::vector<LayerError> others = errors_by_layer(rows);
  REQUIRE(others.size() == 4);
  CHECK(others[0].passes == 2);
  CHECK(others[0].hidden_rel == 3);
  CHECK(std::isinf(others[1].hidden_rel));
  CHECK(others[2].passes == 4);
  CHECK(others[2].hidden_rel == doctest::Approx(3));
  CHECK(others[3].passes == 0);
  CHECK(std::isnan(others[3].hidden_rel));
}
