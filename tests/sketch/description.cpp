#include <doctest/doctest.h>
#include <croquis/sketch/description.hpp>
#include <croquis/sketch/distributions.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/sketch/importance_sampling.hpp>
#include <croquis/sketch/sjlt.hpp>
#include <croquis/sketch/very_sparse.hpp>

#include <cmath>
#include <limits>
#include <set>

#include "support/seed.hpp"
#include "support/sketches.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kRows = 21, kCols = 8;

SketchDescription of_distribution(const std::string& distribution) {
  const bool weighted = find_sketch_distribution<double>(distribution).weighted;
  std::vector<double> weights;
  for (arma::uword i = 0; weighted && i < kRows; ++i) weights.push_back(std::sqrt(2.0 + static_cast<double>(i)));
  return describe_sketch(distribution, kRows, kCols, Key(test_seed()).child(distribution), {}, weights);
}

constexpr const char* kKey = "0123456789abcdef0123456789abcdef";

std::string message_of(const std::string& json) {
  return refusal([&] { SketchDescription::from_json(json); });
}

// A JSON text with a key that is good.
std::string json_with(const std::string& rest) {
  return std::string(R"({"key": ")") + kKey + "\", " + rest + "}";
}

}  // namespace

TEST_CASE_TEMPLATE(
    "make_sketch: every distribution of the registry, with its products, and again from JSON bit for bit", T, float,
    double) {
  std::set<std::string> names;
  for (const SketchDistribution<T>& distribution : sketch_distributions<T>()) {
    CAPTURE(distribution.name);
    names.insert(distribution.name);
    CHECK_FALSE(distribution.source.empty());
    CHECK_FALSE(distribution.summary.empty());
    const SketchDescription description = of_distribution(distribution.name);
    const AnySketch<T> sketch = make_sketch<T>(description);
    check_products<T>(sketch, Key(test_seed()), 64);
    const SketchDescription again = SketchDescription::from_json(description.to_json());
    CHECK(again == description);
    CHECK(identical(make_sketch<T>(again).dense(), sketch.dense()));
    SketchDescription other = description;
    other.key = Key(test_seed()).child("another").name();
    CHECK_FALSE(identical(make_sketch<T>(other).dense(), sketch.dense()));
  }
  CHECK(names == std::set<std::string>{"accumulative", "countsketch", "gaussian", "importance", "rademacher", "sjlt",
                                       "sparse-stack", "srct", "srht", "uniform", "very-sparse"});
}

TEST_CASE("make_sketch: gives what the constructor gives, with the parameters of the description") {
  const Key key = Key(test_seed()).child("same");
  const auto made = [&](const std::string& distribution, const std::map<std::string, double>& parameters) {
    return make_sketch<double>(describe_sketch(distribution, 30, 6, key, parameters)).dense();
  };
  CHECK(identical(made("gaussian", {}), GaussianSketch(30, 6, key).dense<double>()));
  CHECK(identical(made("sjlt", {{"s", 3}}), SjltSketch(30, 6, 3, key).dense<double>()));
  CHECK(identical(made("countsketch", {}), SjltSketch(30, 6, 1, key).dense<double>()));
  CHECK(identical(made("very-sparse", {}), VerySparseSketch(30, 6, key).dense<double>()));
  CHECK(identical(made("very-sparse", {{"q", 2.5}}), VerySparseSketch(30, 6, 2.5, key).dense<double>()));
  const std::vector<double> weights = {0.1, 0.2, 1e-300, 7};
  CHECK(identical(make_sketch<double>(describe_sketch("importance", 4, 9, key, {}, weights)).dense(),
                  ImportanceSampling(arma::vec(weights), 9, key).dense<double>()));
}

TEST_CASE("describe_sketch: defaults are written down, and depend on the sizes") {
  const Key key(1);
  const auto parameters = [&](const std::string& distribution, arma::uword n, arma::uword d) {
    return describe_sketch(distribution, n, d, key).parameters;
  };
  using Parameters = std::map<std::string, double>;
  CHECK(parameters("gaussian", 9, 4) == Parameters{});
  CHECK(parameters("uniform", 9, 4) == Parameters{{"replacement", 1}});
  CHECK(parameters("sjlt", 9, 4) == Parameters{{"s", 4}});
  CHECK(parameters("sjlt", 9, 40) == Parameters{{"s", 8}});
  CHECK(parameters("sparse-stack", 9, 2) == Parameters{{"zeta", 2}});
  CHECK(parameters("sparse-stack", 9, 40) == Parameters{{"zeta", 4}});
  CHECK(parameters("sparse-stack", 9, 6) == Parameters{{"zeta", 3}});
  CHECK(parameters("sparse-stack", 9, 10) == Parameters{{"zeta", 2}});
  CHECK(parameters("sparse-stack", 9, 7) == Parameters{{"zeta", 1}});
  CHECK(parameters("very-sparse", 9, 4) == Parameters{{"q", 3}});
  CHECK(parameters("accumulative", 9, 4) == Parameters{{"m", 4}});
}

TEST_CASE("SketchDescription: its JSON is one line, in the order of the fields") {
  const SketchDescription sjlt = describe_sketch("sjlt", 100, 20, Key::from_name(kKey), {{"s", 4}});
  CHECK(sjlt.to_json() == R"({"distribution":"sjlt","rows":100,"cols":20,"key":"0123456789abcdef0123456789abcdef",)"
                          R"("parameters":{"s":4.0}})");
  const SketchDescription weighted = describe_sketch("importance", 2, 3, Key::from_name(kKey), {}, {0.1, 1.0 / 3});
  CHECK(weighted.to_json() ==
        R"({"distribution":"importance","rows":2,"cols":3,"key":"0123456789abcdef0123456789abcdef","parameters":{},)"
        R"("weights":[0.1,0.3333333333333333]})");
}

TEST_CASE("SketchDescription::from_json: absent parameters get their defaults, integers and spaces are fine") {
  const SketchDescription d =
      SketchDescription::from_json(json_with("\n\"distribution\": \"sjlt\", \"rows\": 10, \"cols\": 3"));
  CHECK(d == describe_sketch("sjlt", 10, 3, Key::from_name(kKey), {{"s", 3}}));
  const SketchDescription e = SketchDescription::from_json(
      json_with(R"("distribution": "sjlt", "rows": 10, "cols": 3, "parameters": {"s": 2}, "weights": [])"));
  CHECK(e == describe_sketch("sjlt", 10, 3, Key::from_name(kKey), {{"s", 2}}));
}

TEST_CASE("SketchDescription::from_json: wrong JSON is refused in one clear line") {
  const std::string where = "SketchDescription::from_json: ";
  CHECK(
      contains(message_of("{\"distribution\": "), where + "the text is refused (not a JSON object: not JSON at byte"));
  for (const char* text : {"", "[1, 2]"}) {
    CHECK(message_of(text) == where + "the text is refused (not a JSON object, which begins with '{')");
  }
  CHECK(message_of(json_with(R"("distribution": "gaussian", "rows": 3, "rows": 7, "cols": 2)")) ==
        where + "the text is refused (not a JSON object: 'rows' twice in one object)");
  CHECK(contains(message_of("{\"a\": " + std::string(1000, '[')), "nested deeper than 32"));
  const std::string broken[] = {
      json_with(R"("a\nb": 1)"), json_with(R"("distribution": "gau\nss", "rows": 3, "cols": 2)"),
      R"({"distribution": "gaussian", "rows": 3, "cols": 2, "key": "00\n00"})",
      json_with(R"("distribution": "sjlt", "rows": 3, "cols": 2, "parameters": {"q\nz": 1})")};
  for (const std::string& text : broken) {
    CHECK(contains(message_of(text), "?"));
    CHECK_FALSE(contains(message_of(text), "\n"));
  }
  CHECK(message_of("{}") == where + "a string in the field, got field = distribution");
  CHECK(message_of(R"({"distribution": 3})") == where + "a string in the field, got field = distribution");
  CHECK(message_of(R"({"distribution": "sjlt"})") == where + "a positive integer in the field, got field = rows");
  for (const char* size : {"-1", "2.5", "\"7\"", "null", "1e3"}) {
    CAPTURE(size);
    CHECK(message_of(json_with(std::string(R"("distribution": "sjlt", "rows": )") + size)) ==
          where + "a positive integer in the field, got field = rows");
  }
  const std::string sized = R"("distribution": "sjlt", "rows": 10, "cols": 3)";
  CHECK(message_of(json_with(sized + R"(, "seed": 3)")) ==
        where + "fields distribution, rows, cols, key, parameters, weights, got field = seed");
  CHECK(message_of("{" + sized + "}") == where + "a string in the field, got field = key");
  CHECK(message_of("{" + sized + R"(, "key": "abc"})") == "Key::from_name: 32 hexadecimal digits, got name = abc");
  CHECK(message_of(json_with(sized + R"(, "parameters": [])")) ==
        where + "an object in the field, got field = parameters");
  CHECK(message_of(json_with(sized + R"(, "parameters": {"s": "2"})")) ==
        where + "a number for the parameter or weight, got name = s");
  CHECK(message_of(json_with(sized + R"(, "weights": 2)")) == where + "an array in the field, got field = weights");
  CHECK(message_of(json_with(sized + R"(, "weights": [true])")) ==
        where + "a number for the parameter or weight, got name = weights");
}

TEST_CASE("completed: what its distribution does not take is refused") {
  const auto message = [](const std::string& distribution, arma::uword rows, arma::uword cols,
                          const std::map<std::string, double>& parameters = {},
                          const std::vector<double>& weights = {}) {
    return refusal([&] { describe_sketch(distribution, rows, cols, Key(1), parameters, weights); });
  };
  CHECK(message("hadamard", 5, 2) ==
        "find_sketch_distribution: one of gaussian, rademacher, uniform, importance, srht, srct, countsketch, sjlt, "
        "sparse-stack, very-sparse, accumulative, got distribution = hadamard");
  CHECK(message("gaussian", 0, 2) == "gaussian: rows >= 1, cols >= 1, got rows = 0, cols = 2");
  CHECK(message("gaussian", 5, 2, {{"s", 1}}) == "gaussian: takes no options, got option = s");
  CHECK(message("sjlt", 5, 2, {{"t", 1}}) == "sjlt: takes the options s, got option = t");
  CHECK(message("sjlt", 5, 2, {{"s", 3}}) == "sjlt: s a whole number in 1 ... d, got s = 3, rows = 5, cols = 2");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double s : {0.0, -1.0, 1.5, nan, 1e300}) CHECK(contains(message("sjlt", 5, 2, {{"s", s}}), "1 ... d"));
  CHECK(contains(message("very-sparse", 5, 2, {{"q", 0.5}}), "q in 1 ... 10^15, got q = 0.5"));
  CHECK(message("very-sparse", 5, 2, {{"q", 1e15}}) == "nothing was thrown");
  CHECK(contains(message("very-sparse", 5, 2, {{"q", 1e16}}), "q in 1 ... 10^15, got q = 1e+16"));
  CHECK(contains(message("uniform", 5, 2, {{"replacement", 2}}), "0 or 1, got replacement = 2"));
  CHECK(message("gaussian", 5, 2, {}, {1, 2, 3, 4, 5}) ==
        "gaussian: no weights for this distribution, got weights = 5, rows = 5");
  CHECK(message("importance", 5, 2, {}, {1, 2}) == "importance: one weight a row, got weights = 2, rows = 5");
  for (const double weight : {nan, std::numeric_limits<double>::infinity()}) {
    CHECK(contains(message("importance", 2, 2, {}, {1, weight}), "importance: finite weights, got weight = "));
  }
  // Sizes that a distribution refuses are refused by its constructor.
  const auto made = [](const std::string& distribution, arma::uword rows, arma::uword cols,
                       const std::map<std::string, double>& parameters = {}) {
    return refusal([&] { make_sketch<double>(describe_sketch(distribution, rows, cols, Key(1), parameters)); });
  };
  CHECK(contains(made("sparse-stack", 5, 6, {{"zeta", 4}}), "a positive multiple of zeta, got n = 5, d = 6, zeta = 4"));
  CHECK(contains(made("srct", 5, 6), "1 <= d <= n"));
}

TEST_CASE("AnySketch: is a Sketch, copies share, refusals come through") {
  const AnySketch<double> sketch = GaussianSketch(5, 3, Key(test_seed()));
  const AnySketch<double> copy = sketch;  // NOLINT: the copy is what is tested
  CHECK(copy.rows() == 5);
  CHECK(copy.cols() == 3);
  CHECK(identical(copy.dense(), GaussianSketch(5, 3, Key(test_seed())).dense<double>()));
  check_refusals(copy);
  check_thread_counts<float>(AnySketch<float>(SjltSketch(300, 9, 2, Key(test_seed()))), Key(test_seed()));
}

TEST_CASE("make_sketch: uniform samples with replacement, or without") {
  // Of 40 indices of 40 without replacement each is once; with it, with probability 40! / 40^40 < 1e-16.
  const auto once = [](double replacement) {
    const arma::mat s =
        make_sketch<double>(describe_sketch("uniform", 40, 40, Key(test_seed()), {{"replacement", replacement}}))
            .dense();
    return arma::sum(s, 1).eval().min() > 0;
  };
  CHECK(once(0));
  CHECK_FALSE(once(1));
}
