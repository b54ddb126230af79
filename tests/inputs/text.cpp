#include <doctest/doctest.h>
#include <croquis/inputs/text.hpp>
#include <croquis/random/draws.hpp>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using Words = std::vector<std::string>;

arma::mat row_of(const arma::mat& m, arma::uword i) {
  return m.row(i);
}

}  // namespace

TEST_CASE("split_words: runs between white space, every ASCII punctuation mark by itself, case and other bytes kept") {
  CHECK(split_words("").empty());
  CHECK(split_words(" \t\r\n\v\f ").empty());
  CHECK(split_words("one") == Words{"one"});
  CHECK(split_words("  The cat\tsat\non  ") == Words{"The", "cat", "sat", "on"});
  CHECK(split_words("Hello, World!") == Words{"Hello", ",", "World", "!"});
  CHECK(split_words("don't") == Words{"don", "'", "t"});
  CHECK(split_words("a-b_c") == Words{"a", "-", "b", "_", "c"});
  CHECK(split_words("...") == Words{".", ".", "."});
  CHECK(split_words("(x)") == Words{"(", "x", ")"});
  CHECK(split_words("3.14") == Words{"3", ".", "14"});
  CHECK(split_words("Nystr\xc3\xb6m caf\xc3\xa9") == Words{"Nystr\xc3\xb6m", "caf\xc3\xa9"});
  CHECK(split_words("\ufeffThe cat") == Words{"The", "cat"});
  CHECK(split_words("\ufeff").empty());
  CHECK(split_words(std::string_view("a\0b\x7f"
                                     "c",
                                     5)) == Words{"a", "b", "c"});  // control characters divide
}

TEST_CASE("sample_text: has 5,000 words or more, many of them different") {
  const Words words = split_words(sample_text());
  CHECK(words.size() >= 5000);
  CHECK(std::set<std::string>(words.begin(), words.end()).size() >= 500);
  for (const std::string& word : words) REQUIRE_FALSE(word.empty());
}

TEST_CASE("initialised_bert: the same word at the same position has the same row, in whatever text it stands") {
  const Key draw_key = Key(test_seed()).child("rows");
  const InitialisedBert small{.hidden = 24, .head = 5};
  const Problem<double> a = initialised_bert({"one", "two", "three", "four"}, draw_key, small),
                        b = initialised_bert({"six", "two", "one", "four", "five"}, draw_key, small);
  CHECK(a.n() == 4);
  CHECK(b.n() == 5);
  CHECK(a.p() == 5);
  CHECK(a.p_v() == 5);
  // Rows of one product with 24 terms, whose order may depend on the number of rows: |x| = sqrt(24), |w| < 0.02 x 20.
  const double bound = 2 * 24 * unit<double>() * 5 * 0.4;
  for (const arma::uword same : {1U, 3U}) {
    CHECK(distance(row_of(a.Q(), same), row_of(b.Q(), same)) <= bound);
    CHECK(distance(row_of(a.K(), same), row_of(b.K(), same)) <= bound);
    CHECK(distance(row_of(a.V(), same), row_of(b.V(), same)) <= bound);
  }
  // Another word, and the same word at another position, have another row.
  CHECK(distance(row_of(a.Q(), 0), row_of(b.Q(), 0)) > 1e-3);
  CHECK(distance(row_of(a.Q(), 0), row_of(b.Q(), 2)) > 1e-3);
  CHECK(distance(row_of(a.Q(), 0), row_of(a.K(), 0)) > 1e-3);
}

TEST_CASE("initialised_bert: queries of a layer by its definition, with BERT's epsilon") {
  // At this deviation the epsilon is a two-hundredth of the variance of an embedding.
  const InitialisedBert options{.hidden = 6, .head = 2, .standard_deviation = 1e-5, .token_type = true};
  const Key key = Key(test_seed()).child("bert");
  const auto normal = [](const Key& of, arma::uword count) {
    arma::vec z(count);
    fill_normal(of, 0, count, z.memptr());
    return arma::vec(1e-5 * z);
  };
  const std::vector<std::string> tokens = {"one", "two", "one"};
  const arma::mat q = initialised_bert(tokens, key, options).Q();
  const arma::mat weight = arma::reshape(normal(key.child("query"), 12), 6, 2);
  for (arma::uword i = 0; i < 3; ++i) {
    const arma::vec sum = normal(key.child("word").child(tokens[i]), 6) + normal(key.child("position").child(i), 6) +
                          normal(key.child("token type"), 6);
    double mean = 0, variance = 0;
    for (const double x : sum) mean += x / 6;
    for (const double x : sum) variance += (x - mean) * (x - mean) / 6;
    const arma::rowvec expected = (sum - mean).t() / std::sqrt(variance + 1e-12) * weight;
    for (arma::uword j = 0; j < 2; ++j) CHECK(std::abs(q(i, j) - expected(j)) <= 1e-12 * arma::abs(weight).max());
  }
}

TEST_CASE("initialised_bert: positions start again after as many tokens as there are") {
  const Key draw_key = Key(test_seed()).child("positions");
  const Problem<double> problem =
      initialised_bert({"a", "b", "a", "a", "b", "a"}, draw_key, {.hidden = 24, .head = 5, .positions = 3});
  const double bound = 2 * 24 * unit<double>() * 5 * 0.4;
  for (const arma::uword i : {0U, 1U, 2U}) CHECK(distance(row_of(problem.Q(), i), row_of(problem.Q(), i + 3)) <= bound);
  CHECK(distance(row_of(problem.Q(), 0), row_of(problem.Q(), 2)) > 1e-3);
}

TEST_CASE("initialised_bert: entries of a row are independent N(0, s^2 hidden), and mutants are rejected") {
  // A row of X has mean 0 and variance 1 to 1e-9, so that its products with W are N(0, s^2 hidden) exactly: 300 random
  // keys of 64 columns, 19,200 entries for each of Q, K and V. A scale off by 5 % is 10 deviations of the sum of
  // squares.
  constexpr double failure = 1e-9 / 6;
  using Change = std::function<double(double)>;
  const auto accepts = [&](double deviation, const Change& change, arma::uword hidden = 32) {
    std::vector<double> q, k, v;
    for (std::uint64_t t = 0; t < 300; ++t) {
      const Problem<double> problem = initialised_bert({"word"}, Key(test_seed()).child("law").child(t),
                                                       {.hidden = hidden, .head = 64, .standard_deviation = deviation});
      const double scale = deviation * std::sqrt(static_cast<double>(hidden));
      for (arma::uword c = 0; c < 64; ++c) {
        q.push_back(change(problem.Q()(0, c) / scale));
        k.push_back(change(problem.K()(0, c) / scale));
        v.push_back(change(problem.V()(0, c) / scale));
      }
    }
    return sample_is_normal(q, failure) && sample_is_normal(k, failure) && sample_is_normal(v, failure) &&
           samples_are_uncorrelated(q, k, failure) && samples_are_uncorrelated(q, v, failure) &&
           samples_are_uncorrelated(k, v, failure);
  };
  CHECK(accepts(0.02, [](double z) { return z; }));
  CHECK(accepts(0.5, [](double z) { return z; }));
  CHECK(accepts(
      0.5, [](double z) { return z; }, 4));  // where a variance divided by 3 would show
  CHECK_FALSE(accepts(0.02, [](double z) { return 1.05 * z; }));
  CHECK_FALSE(accepts(0.02, [](double z) { return std::abs(z); }));
}

TEST_CASE("initialised_bert: tokens share what their embeddings share: a word, and the token type when it is on") {
  // q_i.q_j / (s^2 hidden head) estimates x_i.x_j / hidden, the cosine of two embeddings: of two parts (word, position)
  // or three (token type) of equal size, one or two in common. 200 random keys, head 64, hidden 128: a deviation of
  // about sqrt(1/64 + 1/128) = 0.15 a random key, 0.011 of the mean; 0.08 is 7 deviations, a normal tail of 3e-12 each.
  const auto cosine = [](bool token_type, const std::string& second) {
    double sum = 0;
    for (std::uint64_t t = 0; t < 200; ++t) {
      const Problem<double> problem = initialised_bert({"word", second}, Key(test_seed()).child("shared").child(t),
                                                       {.hidden = 128, .head = 64, .token_type = token_type});
      sum += arma::dot(problem.Q().row(0), problem.Q().row(1)) / (0.02 * 0.02 * 128 * 64);
    }
    return sum / 200;
  };
  CHECK(std::abs(cosine(false, "other") - 0) <= 0.08);
  CHECK(std::abs(cosine(false, "word") - 1.0 / 2) <= 0.08);
  CHECK(std::abs(cosine(true, "other") - 1.0 / 3) <= 0.08);
  CHECK(std::abs(cosine(true, "word") - 2.0 / 3) <= 0.08);
}

TEST_CASE("initialised_bert: no tokens, sizes of 0 and a deviation of 0 are refused") {
  CHECK(refusal([] { initialised_bert({}, Key(1)); }) == "initialised_bert: at least one token");
  const auto with = [](const InitialisedBert& options) {
    return refusal([&] { initialised_bert({"a"}, Key(1), options); });
  };
  CHECK(
      contains(with({.hidden = 0}), "hidden, head, positions >= 1, standard_deviation > 0, got hidden = 0, head = 64"));
  CHECK(contains(with({.head = 0}), "head = 0"));
  CHECK(contains(with({.positions = 0}), "positions = 0"));
  CHECK(contains(with({.standard_deviation = 0}), "standard_deviation = 0"));
}
