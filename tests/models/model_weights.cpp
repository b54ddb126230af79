// Which files the tensors of a model are read from, and the digest that says whether two models are the same.
#include <doctest/doctest.h>
#include <croquis/models/model_weights.hpp>

#include <string>

#include "support/dense.hpp"
#include "support/files.hpp"
#include "support/formula_model.hpp"

using namespace croquis;

namespace {

std::string digest_of(const ModelWeights& weights) {
  Digest digest;
  weights.add_to(digest);
  return digest.hex();
}

}  // namespace

TEST_CASE("model weights: a tensor that two files have is that of the file in the index, as the digest says") {
  const TemporaryFolder folder;
  FormulaModel first, second;
  first.tensors = second.tensors = {{"a", {3}}, {"b", {3}}};
  second.copies = {{"a", "c"}, {"b", "c"}};
  write_text(folder / "first.safetensors", first.file());
  write_text(folder / "second.safetensors", second.file());
  const std::string path = (folder / "index.json").string();
  const auto with_a_in = [&](const std::string& file) {
    // Both files are opened, in this order.
    write_text(path,
               R"({"weight_map": {"_": "first.safetensors", "a": ")" + file + R"(", "b": "second.safetensors"}})");
    return ModelWeights(path);
  };
  first.tensors.emplace_back("_", std::vector<std::uint64_t>{1});
  write_text(folder / "first.safetensors", first.file());
  const ModelWeights one = with_a_in("first.safetensors"), other = with_a_in("second.safetensors");
  CHECK(identical(*one.matrix("a"), SafeTensors(first.file(), "first").matrix("a")));
  CHECK(identical(*other.matrix("a"), SafeTensors(second.file(), "second").matrix("a")));
  CHECK(digest_of(one) != digest_of(other));
  CHECK(digest_of(one) == digest_of(with_a_in("first.safetensors")));
}

TEST_CASE("model weights: the digest is of every number") {
  FormulaModel model, other;
  model.tensors = other.tensors = {{"a", {2, 3}}, {"b", {3}}};
  other.copies = {{"b", "c"}};
  const auto digest = [](const FormulaModel& of) { return digest_of(ModelWeights(SafeTensors(of.file(), "m"))); };
  CHECK(digest(model) == digest(model));
  CHECK(digest(model) != digest(other));
}
