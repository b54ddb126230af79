// Every architecture against what PyTorch computed once (torch_reference.py), on weights that both make by a formula.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/core/threads.hpp>
#include <croquis/models/model.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/files.hpp"
#include "support/formula_model.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// Both sides compute in double; numbers are below 100, and an entry is the result of some hundred roundings a layer,
// which norms of deviation above 0.1 carry on: 2e-16 x 100 x 100 x 10^2 over four layers.
constexpr double kBound = 2e-10;

const TokenIds kIds = {3, 1, 4, 1, 5, 9, 2, 6, 10};

// The largest difference between rows of x and the numbers, row by row.
double distance(const arma::mat& x, const std::vector<arma::uword>& rows, const std::vector<double>& numbers) {
  REQUIRE(numbers.size() == rows.size() * x.n_cols);
  double largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (arma::uword j = 0; j < x.n_cols; ++j) raise(largest, std::abs(x(rows[i], j) - numbers[i * x.n_cols + j]));
  }
  return largest;
}

Model model_of(const FormulaModel& model, const std::string& type = "F32") {
  return {SafeTensors(model.file(type), "m.safetensors"), parse_model_config(model.config, "config.json")};
}

ModelHeads heads_on(const Model& model, const TokenWindows& tokens) {
  return {model, [tokens](arma::uword) { return tokens; }};
}

}  // namespace

TEST_CASE("architectures: hidden states, Q, K, V, logits and losses are those of PyTorch") {
  const std::vector<FormulaModel> models = formula_models();
  REQUIRE(models.size() == 5);
  for (const FormulaModel& reference : models) {
    CAPTURE(reference.name);
    const Model model = model_of(reference);
    const arma::uword layers = model.config().layers;
    CHECK(model.vocabulary() == 11);
    for (arma::uword l = 0; l <= layers; ++l) {
      CHECK(distance(model.hidden(kIds, l), {0, 4, 8}, reference.numbers.at("hidden " + std::to_string(l))) <= kBound);
    }
    const TokenWindows tokens = in_windows(kIds, 9);
    const HeadProjections projections = model.project(model.hidden(kIds, 1), 1, tokens);
    CHECK(distance(projections.q, {0, 5, 8}, reference.numbers.at("q")) <= kBound);
    CHECK(distance(projections.k, {0, 5, 8}, reference.numbers.at("k")) <= kBound);
    CHECK(distance(projections.v, {0, 5, 8}, reference.numbers.at("v")) <= kBound);
    const arma::mat last = model.last_hidden(model.hidden(kIds, layers));
    CHECK(distance(last, {1, 8}, reference.numbers.at("last")) <= kBound);
    model.require_language_head();
    CHECK(distance(model.logits(last), {2, 8}, reference.numbers.at("logits")) <= kBound);
  }
}

TEST_CASE("architectures: heads that share keys have them repeated, and decoders are causal") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    const Model model = model_of(reference);
    const ModelConfig& config = model.config();
    const TokenWindows tokens = in_windows(kIds, 9);
    const HeadProjections projections = model.project(model.hidden(kIds, 1), 1, tokens);
    ModelHeads heads = heads_on(model, tokens);
    for (arma::uword h = 0; h < config.heads; ++h) {
      const Problem<double> head = heads.head(0, 1, h);
      CHECK(head.is_causal() == (reference.name != "bert" && reference.name != "albert"));
      const arma::uword p = config.p(), of_k = reference.name == "llama-tied" ? h / 2 : h;
      CHECK(arma::approx_equal(head.Q(), projections.q.cols(h * p, (h + 1) * p - 1), "absdiff", 0));
      CHECK(arma::approx_equal(head.K(), projections.k.cols(of_k * p, (of_k + 1) * p - 1), "absdiff", 0));
      CHECK(arma::approx_equal(head.V(), projections.v.cols(of_k * p, (of_k + 1) * p - 1), "absdiff", 0));
    }
  }
}

TEST_CASE("architectures: the gate of a Llama has the activation of its configuration") {
  FormulaModel reference = formula_model("llama-untied");
  reference.config.replace(reference.config.find("silu"), 4, "relu");
  const Model model = model_of(reference);
  const SafeTensors file(reference.file(), "m.safetensors");
  const auto weight = [&](const std::string& name) { return file.matrix("model.layers.0." + name + ".weight"); };
  const arma::mat y = model.hidden(kIds, 0), output = model.output(y, arma::mat(9, 8, arma::fill::zeros), 0);
  arma::mat expected = y;
  for (arma::uword i = 0; i < 9; ++i) {
    const arma::rowvec row = y.row(i);
    const arma::vec z = (row / std::sqrt(arma::dot(row, row) / 8 + 1e-3) % weight("post_attention_layernorm")).t();
    const arma::vec gate = weight("mlp.gate_proj") * z, up = weight("mlp.up_proj") * z;
    for (arma::uword j = 0; j < 12; ++j) {
      if (gate(j) > 0) expected.row(i) += gate(j) * up(j) * weight("mlp.down_proj").col(j).t();
    }
  }
  CHECK(arma::approx_equal(output, expected, "absdiff", kBound));
}

TEST_CASE("architectures: layers of an ALBERT share weights as in Hugging Face's code, also where groups are uneven") {
  const FormulaModel reference = formula_model("albert");
  const auto albert = [&](int layers, int groups) {
    FormulaModel model = reference;
    model.config.replace(model.config.find("\"num_hidden_layers\": 4"), 22,
                         fmt::format("\"num_hidden_layers\": {}", layers));
    model.config.replace(model.config.find("\"num_hidden_groups\": 2"), 22,
                         fmt::format("\"num_hidden_groups\": {}", groups));
    const std::string first = "albert_layer_groups.0.";
    std::erase_if(model.tensors,
                  [](const auto& tensor) { return tensor.first.find("_groups.1.") != std::string::npos; });
    for (const auto& [name, shape] : reference.tensors) {
      const std::size_t at = name.find(first);
      for (int g = 1; g < groups && at != std::string::npos; ++g) {
        std::string of_group = name;
        model.tensors.emplace_back(of_group.replace(at, first.size(), fmt::format("albert_layer_groups.{}.", g)),
                                   shape);
      }
    }
    return model_of(model);
  };
  // [int(l / (L / G)) for l in range(L)] in Python. Layer 9 of 18 is an exact 7 before it is rounded.
  const struct {
    int layers, groups;
    std::vector<arma::uword> shared;
  } cases[] = {{3, 2, {0, 0, 1}},
               {5, 2, {0, 0, 0, 1, 1}},
               {4, 2, {0, 0, 1, 1}},
               {18, 14, {0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 13}}};
  const TokenWindows tokens = in_windows(kIds, 9);
  for (const auto& [layers, groups, shared] : cases) {
    CAPTURE_BINDING(layers);
    const Model model = albert(layers, groups), each = albert(groups, groups);  // a layer for every group
    const arma::mat x = model.hidden(kIds, 0);
    for (arma::uword l = 0; l < shared.size(); ++l) {
      CHECK(arma::approx_equal(model.project(x, l, tokens).q, each.project(x, shared[l], tokens).q, "absdiff", 0));
    }
  }
}

TEST_CASE("architectures: windows are texts of their own, stacked") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    const Model model = model_of(reference);
    const TokenIds first(kIds.begin(), kIds.begin() + 4), second(kIds.begin() + 4, kIds.end());
    ModelHeads joined = heads_on(model, {kIds, {4, 9}}), one = heads_on(model, in_windows(first, 9)),
               other = heads_on(model, in_windows(second, 9));
    const Problem<double> all = joined.head(0, 1, 1);
    CHECK(all.n() == 9);
    CHECK(
        arma::approx_equal(all.Q(), arma::join_cols(one.head(0, 1, 1).Q(), other.head(0, 1, 1).Q()), "absdiff", 1e-12));
    CHECK(
        arma::approx_equal(all.K(), arma::join_cols(one.head(0, 1, 1).K(), other.head(0, 1, 1).K()), "absdiff", 1e-12));
  }
}

TEST_CASE("architectures: many windows at once, of more rows than are multiplied together, are the one stacked") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    const Model model = model_of(reference);
    constexpr arma::uword times = 31;
    TokenWindows many;
    for (arma::uword w = 0; w < times; ++w) {
      many.ids.insert(many.ids.end(), kIds.begin(), kIds.end());
      many.ends.push_back(many.ids.size());
    }
    const arma::mat expected = model.hidden(kIds, 1), x = model.embed(many);
    const arma::mat y = model.output(x, model.attend(model.project(x, 0, many), many), 0);
    CHECK(arma::approx_equal(y, arma::repmat(expected, times, 1), "absdiff", 1e-12));
    CHECK(arma::approx_equal(model.logits(y), arma::repmat(model.logits(expected), times, 1), "absdiff", 1e-12));
  }
}

TEST_CASE("architectures: windows that do not hold the tokens, and matrices of another size, are refused") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    const Model model = model_of(reference);
    const arma::uword layers = model.config().layers, heads = model.config().heads;
    const TokenWindows tokens = in_windows(kIds, 9);
    const arma::mat x = model.embed(tokens), two_rows = x.head_rows(2), narrow = x.head_cols(3);
    const HeadProjections whole = model.project(x, 0, tokens), short_v{whole.q, whole.k, whole.v.head_rows(8)};
    // None, too few, too many, an empty one, and one that ends before it begins.
    for (const std::vector<arma::uword>& ends :
         std::vector<std::vector<arma::uword>>{{}, {8}, {9, 10}, {0, 9}, {4, 4, 9}, {5, 4, 9}}) {
      CAPTURE(ends.size());
      const TokenWindows wrong{kIds, ends};
      CHECK(contains(refusal([&] { model.embed(wrong); }), "TokenWindows: "));
      CHECK(contains(refusal([&] { model.project(x, 0, wrong); }), "TokenWindows: "));
      CHECK(contains(refusal([&] { model.attend(whole, wrong); }), "TokenWindows: "));
    }
    const std::string rows = "matrix = x, rows = 2", cols = "matrix = x, rows = 9, cols = 3";
    CHECK(contains(refusal([&] { model.project(two_rows, 0, tokens); }), rows));
    CHECK(contains(refusal([&] { model.project(arma::join_cols(x, x), 0, tokens); }), "rows = 18"));
    CHECK(contains(refusal([&] { model.project(narrow, 0, tokens); }), cols));
    CHECK(contains(refusal([&] { model.project(x, layers, tokens); }), "layer < layers"));
    CHECK(contains(refusal([&] { model.attend(whole, in_windows(TokenIds(8, 1), 8)); }), "matrix = q, rows = 9"));
    CHECK(contains(refusal([&] { model.attend(short_v, tokens); }), "matrix = v, rows = 8"));
    CHECK(contains(refusal([&] { model.head(short_v, 0); }), "matrix = v, rows = 8"));
    CHECK(contains(refusal([&] { model.head({}, 0); }), "at least one token"));
    CHECK(contains(refusal([&] { model.head(whole, heads); }), "head < heads"));
    CHECK(contains(refusal([&] { model.head(whole, 0, 3, 2); }), "first = 3, last = 2"));
    CHECK(contains(refusal([&] { model.head(whole, 0, 0, 9); }), "last = 9, rows = 9"));
    CHECK(model.head(whole, heads - 1, 8, 8).n() == 1);
    CHECK(contains(refusal([&] { model.output(x, two_rows, 0); }), "matrix = context, rows = 2"));
    CHECK(contains(refusal([&] { model.output(narrow, narrow, 0); }), cols));
    CHECK(contains(refusal([&] { model.output(x, x, layers); }), "layer < layers"));
    CHECK(contains(refusal([&] { model.last_hidden(narrow); }), cols));
    CHECK(contains(refusal([&] { model.logits(narrow); }), "matrix = hidden, rows = 9, cols = 3"));
  }
}

TEST_CASE("architectures: a configuration whose heads are no multiple of its key heads is refused") {
  const FormulaModel reference = formula_model("llama-tied");
  for (const arma::uword key_heads : {0, 3}) {
    ModelConfig config = parse_model_config(reference.config, "config.json");
    config.key_heads = key_heads;
    CHECK(contains(refusal([&] { Model(SafeTensors(reference.file("F32"), "m.safetensors"), config); }),
                   "a multiple of key heads"));
  }
}

TEST_CASE("architectures: types of numbers, an index of several files and threads make no difference") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    const Model model = model_of(reference);
    const arma::uword layers = model.config().layers;
    const arma::mat expected = model.hidden(kIds, layers);
    for (const char* type : {"F16", "BF16"}) {
      CHECK(arma::approx_equal(model_of(reference, type).hidden(kIds, layers), expected, "absdiff", 0));
    }
    TemporaryFolder folder;
    reference.write_parts(folder.path());
    const Model parts(ModelWeights((folder / "model.safetensors.index.json").string()), model.config());
    CHECK(arma::approx_equal(parts.hidden(kIds, layers), expected, "absdiff", 0));
    set_threads(1);
    CHECK(arma::approx_equal(model.hidden(kIds, layers), expected, "absdiff", 0));
    set_threads(0);
  }
}

TEST_CASE("architectures: a missing tensor and one of another shape are refused in one line with its name") {
  for (const FormulaModel& reference : formula_models()) {
    CAPTURE(reference.name);
    for (const auto& [name, shape] : reference.tensors) {
      CAPTURE_BINDING(name);
      FormulaModel without = reference;
      std::erase_if(without.tensors, [&, &n = name](const auto& tensor) { return tensor.first == n; });
      const auto use = [](const FormulaModel& model) { model_of(model).require_language_head(); };
      const std::string missing = refusal([&] { use(without); });
      CHECK(missing.find(name.substr(name.find('.') + 1)) != std::string::npos);
      CHECK(missing.starts_with("m.safetensors: has no tensor '"));
      if (name.find("word_emb") != std::string::npos || name.ends_with("wte.weight") ||
          name.find("embed_tok") != std::string::npos)
        continue;
      for (const bool last : {true, false}) {
        FormulaModel other = reference;
        for (auto& [tensor, sizes] : other.tensors) {
          if (tensor == name) ++(last ? sizes.back() : sizes.front());
        }
        const std::string wrong = refusal([&] { use(other); });
        CHECK_MESSAGE(wrong.find("'" + name + "' is [") != std::string::npos, wrong);
        CHECK(wrong.find('\n') == std::string::npos);
      }
    }
  }
}

TEST_CASE("architectures: a NaN in a tensor of the head alone, and another vocab_size, are refused with their file") {
  const FormulaModel reference = formula_model("bert");
  std::string bytes = reference.file();
  // The last tensor of the file is one of the head, and its last number is the file's.
  REQUIRE(reference.tensors.back().first.starts_with("cls.predictions."));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bytes.replace(bytes.size() - sizeof nan, sizeof nan, reinterpret_cast<const char*>(&nan), sizeof nan);
  const ModelConfig config = parse_model_config(reference.config, "config.json");
  const Model model(SafeTensors(bytes, "m.safetensors"), config);
  const std::string said = refusal([&] { model.require_language_head(); });
  CHECK_MESSAGE(said.starts_with("m.safetensors: "), said);
  CHECK_MESSAGE(said.find(reference.tensors.back().first) != std::string::npos, said);
  ModelConfig other = config;
  other.vocabulary = 12;
  CHECK(refusal([&] { Model(SafeTensors(reference.file(), "m.safetensors"), other); }) ==
        "m.safetensors: has 11 word embeddings; the vocab_size of its config.json is 12");
}

TEST_CASE("architectures: an index that is damaged is refused in one line") {
  const FormulaModel reference = formula_models().front();
  TemporaryFolder folder;
  reference.write_parts(folder.path());
  const std::string index = (folder / "model.safetensors.index.json").string();
  const std::pair<std::string, std::string> wrong[] = {
      {"{", "is no index of safetensors files"},
      {"{}", "has no weight_map"},
      {R"({"weight_map": {"a": 3}})", "has no name of a file in the same folder for tensor 'a'"},
      {R"({"weight_map": {"a": "../a.safetensors"}})", "has no name of a file in the same folder for tensor 'a'"},
      {R"({"weight_map": {"a": "none.safetensors"}})", "none.safetensors: cannot be opened"},
      {R"({"weight_map": {"a": "part-0.safetensors"}})", "part-0.safetensors: has no tensor 'a', which"},
  };
  for (const auto& [text, said] : wrong) {
    write_text(index, text);
    const std::string message = refusal([&] { ModelWeights weights(index); });
    CHECK_MESSAGE(message.find(said) != std::string::npos, message);
    CHECK(message.find('\n') == std::string::npos);
  }
}
