// What holds for every method there is, through the registry.
#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/measure/errors.hpp>

#include <algorithm>
#include <set>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

OptionValues with(const std::string& name, const std::string& value) {
  return OptionValues(std::map<std::string, std::string>{{name, value}});
}

// Each method with its options' defaults and with each value of each choice.
template <typename T>
struct Case {
  const Method<T>* method;
  OptionValues options;
  std::string text;
};

template <typename T>
std::vector<Case<T>> all_cases() {
  std::vector<Case<T>> cases;
  for (const Method<T>& method : methods<T>()) {
    cases.push_back({&method, {}, method.name});
    for (const OptionInfo& option : method.options) {
      if (option.values.find('|') == std::string::npos) continue;
      std::string rest = option.values + "|";
      for (std::size_t bar = 0; (bar = rest.find('|')) != std::string::npos; rest = rest.substr(bar + 1)) {
        const std::string value = rest.substr(0, bar);
        if (value == "given") continue;  // takes a file
        cases.push_back({&method, with(option.name, value), method.name + " " + option.name + "=" + value});
      }
    }
  }
  return cases;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* other) { return name == other; });
}

// The largest d that a method takes: skyformer goes to 2n; 0 for those that take any.
arma::uword largest_d(const std::string& name, arma::uword n) {
  if (name.starts_with("skyformer")) return 2 * n;
  const bool any =
      is_one_of(name, {"linformer-unreduced", "v-mean", "performer", "nprf", "prf-rpe", "nprf-rpe", "linear"});
  return any ? 0 : n;
}

// d, or the least number of keys that a pattern needs, or n, with which all keys meet.
arma::uword enough(const std::string& name, arma::uword d, arma::uword n) {
  const arma::uword least = name == "bigbird" ? 7 : name == "reformer" ? 4 : name == "longformer" ? 3 : 1;
  return d >= n ? d : std::min(std::max(d, least), n);
}

// Methods that are no weighted mean of values: their rows do not sum to 1, whatever the tokens.
bool sums_to_one(const std::string& text) {
  return text == "linformer law=segments" || !(text.starts_with("linformer") || text.starts_with("sampled-columns") ||
                                               text.starts_with("skeinformer-no-norm"));
}

template <typename T>
Approximation<T> run(const Case<T>& c, const Problem<T>& problem, arma::uword d, const Stream& stream = Stream(1)) {
  return bind(*c.method, problem, c.options).approximate(d, stream);
}

template <typename T>
Approximation<T> run_enough(const Case<T>& c, const Problem<T>& problem, arma::uword d,
                            const Stream& stream = Stream(1)) {
  return run(c, problem, enough(c.method->name, d, problem.n()), stream);
}

}  // namespace

TEST_CASE_TEMPLATE("methods: names are unique, and each is found and says what it is", T, float, double) {
  std::set<std::string> names;
  for (const Method<T>& method : methods<T>()) {
    CHECK(names.insert(method.name).second);
    CHECK(&find_method<T>(method.name) == &method);
    CHECK_FALSE(method.summary.empty());
    CHECK_FALSE(method.source.empty());
    std::set<std::string> options;
    for (const OptionInfo& option : method.options) {
      CHECK(options.insert(option.name).second);
      CHECK_FALSE(option.values.empty());
      CHECK_FALSE(option.effect.empty());
    }
  }
  for (const char* name : {"v-mean",
                           "best-rank-d",
                           "skyformer",
                           "skyformer-softmax",
                           "nystromformer",
                           "linformer",
                           "linformer-unreduced",
                           "informer",
                           "skeinformer",
                           "skeinformer-uniform",
                           "skeinformer-no-norm",
                           "skeinformer-simple-norm",
                           "skeinformer-no-reuse",
                           "sampled-columns",
                           "performer",
                           "nprf",
                           "prf-rpe",
                           "nprf-rpe",
                           "linear",
                           "reformer",
                           "bigbird",
                           "longformer"}) {
    CHECK(names.contains(name));
  }
}

TEST_CASE_TEMPLATE("methods: both precisions have the same ones", T, double) {
  REQUIRE(methods<float>().size() == methods<double>().size());
  for (std::size_t i = 0; i < methods<T>().size(); ++i) CHECK(methods<float>()[i].name == methods<double>()[i].name);
}

TEST_CASE("methods: an unknown name is refused with the names there are") {
  const std::string message = refusal([] { find_method<double>("skyfromer"); });
  CHECK(contains(message, "got name = skyfromer"));
  for (const Method<double>& method : methods<double>()) CHECK(contains(message, method.name));
  CHECK(contains(refusal([] { find_method<float>(""); }), "method: one of v-mean"));
}

TEST_CASE("methods: an unknown option is refused with the options there are, a wrong value with the values") {
  const Problem<double> problem = random_problem<double>(4, 2, 2, 1, Stream(1));
  for (const Method<double>& method : methods<double>()) {
    CAPTURE(method.name);
    const std::string message = refusal([&] { bind(method, problem, with("colour", "red")); });
    CHECK(contains(message, method.name + ": "));
    CHECK(contains(message, "got option = colour"));
    if (method.options.empty()) CHECK(contains(message, "takes no options"));
    for (const OptionInfo& option : method.options) {
      CHECK(contains(message, option.name));
      const std::string wrong = refusal([&] { bind(method, problem, with(option.name, "?")); });
      CHECK(contains(wrong, "?"));
      CHECK(contains(wrong, option.name == "indices" ? "cannot be opened" : option.name));
    }
  }
}

TEST_CASE_TEMPLATE("methods: every choice that is listed is accepted, and so are the fallbacks", T, float, double) {
  const Problem<T> problem = random_problem<T>(9, 4, 2, 2, Stream(test_seed()).child("choices"));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    CHECK_NOTHROW(run_enough(c, problem, 3));
  }
  for (const Method<T>& method : methods<T>()) {
    for (const OptionInfo& option : method.options) {
      if (option.fallback.empty()) continue;
      const BoundMethod<T> said = bind(method, problem, with(option.name, option.fallback));
      CAPTURE(method.name);
      CAPTURE(option.name);
      const arma::uword d = enough(method.name, 3, 9);
      CHECK(identical(said.approximate(d, Stream(2)).output, bind(method, problem).approximate(d, Stream(2)).output));
    }
  }
}

TEST_CASE_TEMPLATE("methods: scores times V is the output, and apply_transposed the transpose of apply", T, float,
                   double) {
  // Moderate norms and few landmarks, so that no inverse is beyond 1e3: the products differ by 1e3 n^2 u at most.
  const Problem<T> problem = random_problem<T>(40, 8, 3, 4, Stream(31));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    for (const arma::uword d : {1U, 6U}) {
      const Approximation<T> approximation = run_enough(c, problem, d, Stream(32));
      REQUIRE(arma::size(approximation.output) == arma::SizeMat(40, 3));
      CHECK(approximation.output.is_finite());
      if (approximation.scores) CHECK(interface_gap(approximation, problem) <= 1e3 * 40 * 40 * unit<T>());
    }
  }
}

TEST_CASE_TEMPLATE("methods: the same bits for the same stream and for any number of threads", T, float, double) {
  const Problem<T> long_one = random_problem<T>(300, 16, 8, 4, Stream(test_seed()).child("threads")),
                   short_one = random_problem<T>(70, 16, 8, 4, Stream(test_seed()).child("threads"));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    const Problem<T>& problem = c.options.all().empty() ? long_one : short_one;
    const Stream stream = Stream(test_seed()).child(c.text);
    arma::Mat<T> expected;
    for (const int team : {1, 2, 4}) {
      const ThreadCount count(team);
      const BoundMethod<T> bound = bind(*c.method, problem, c.options);
      const Approximation<T> approximation = bound.approximate(20, stream);
      if (team == 1) expected = approximation.output;
      CHECK(identical(approximation.output, expected));
      CHECK(identical(bound.approximate(20, stream).output, expected));
    }
    const bool drawn = c.method->random(c.options);
    CHECK(identical(run(c, problem, 20, stream.child("other")).output, run(c, problem, 20, stream).output) == !drawn);
  }
}

TEST_CASE_TEMPLATE("methods: one bound method runs on several threads at once", T, float, double) {
  const Problem<T> problem = random_problem<T>(60, 8, 4, 4, Stream(test_seed()).child("together"));
  const ThreadCount count(4);
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    const BoundMethod<T> bound = bind(*c.method, problem, c.options);
    std::vector<arma::Mat<T>> together(8), alone(8);
    parallel_for(8, [&](std::size_t i) { together[i] = bound.approximate(7 + i, Stream(i)).output; });
    parallel_for(1, [&](std::size_t) {
      for (std::size_t i = 0; i < 8; ++i) alone[i] = bound.approximate(7 + i, Stream(i)).output;
    });
    for (std::size_t i = 0; i < 8; ++i) CHECK(identical(together[i], alone[i]));
  }
}

TEST_CASE_TEMPLATE("methods: one token, one column, equal tokens and zeros are no error", T, float, double) {
  const Stream stream = Stream(test_seed()).child("edges");
  const arma::Mat<T> zero(5, 3, arma::fill::zeros), v = random_matrix<T>(5, 2, stream.child("v"));
  const Problem<T> one = random_problem<T>(1, 3, 2, 2, stream), narrow = random_problem<T>(7, 1, 1, 2, stream);
  const Problem<T> still(zero, zero, v);  // Q = K = 0
  const Problem<T> worthless(random_matrix<T>(5, 3, stream), zero, arma::Mat<T>(5, 2, arma::fill::zeros));
  const Problem<T> equal(arma::repmat(random_matrix<T>(1, 3, stream), 5, 1),
                         arma::repmat(random_matrix<T>(1, 3, stream), 5, 1), v);
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    if (c.text == "nystromformer landmarks=stratified") {  // one key cannot be halved
      CHECK(contains(refusal([&] { run(c, one, 1); }), "at least two points"));
    } else {
      CHECK(run(c, one, 1).output.is_finite());
    }
    for (const arma::uword d : {1U, 3U, 7U}) CHECK(run_enough(c, narrow, d).output.is_finite());
    for (const arma::uword d : {1U, 2U, 5U}) {
      for (const Problem<T>& problem : {still, equal}) {
        const arma::Mat<T> output = run_enough(c, problem, d).output;
        CHECK(output.is_finite());
        // Equal queries have equal outputs; where nothing random stands between, the mean of V or n kappa times it.
        if (!sums_to_one(c.text)) continue;
        const Dense exact = is_normalised(c.method->target)
                                ? Dense(arma::repmat(arma::mean(v, 0), 5, 1))
                                : scores_of(problem.Q(), problem.K(), c.method->target) * problem.V();
        const bool ridge = c.text == "skyformer preset=code";  // a ridge is not exact
        if (!ridge) CHECK(distance(output, exact) <= 1e3 * 25 * unit<T>() * static_cast<double>(largest_entry_of(v)));
      }
      CHECK(arma::abs(run_enough(c, worthless, d).output).max() == 0);
    }
  }
}

TEST_CASE_TEMPLATE("methods: a d they do not take is refused by name, with d and n", T, float, double) {
  const Problem<T> problem = random_problem<T>(6, 3, 2, 1, Stream(test_seed()).child("d"));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    const arma::uword most = largest_d(c.method->name, 6);
    if (most == 0) continue;
    CHECK_NOTHROW(run(c, problem, most));
    const std::string message = refusal([&] { run(c, problem, most + 1); });
    CHECK(contains(message, "d = " + std::to_string(most + 1)));
    CHECK(contains(message, "n = 6"));
    CHECK(contains(refusal([&] { run(c, problem, 0); }), "d = 0"));
  }
}

TEST_CASE(
    "methods: the count of flops is finite, positive and does not fall with d, but for a hash into n / d buckets") {
  const Problem<double> problem = random_problem<double>(50, 8, 4, 1, Stream(1));
  for (const Case<double>& c : all_cases<double>()) {
    CAPTURE(c.text);
    const BoundMethod<double> bound = bind(*c.method, problem, c.options);
    double last = 0;
    for (const double d : {1.0, 10.0, 50.0}) {
      CHECK(std::isfinite(bound.flops(d)));
      CHECK(bound.flops(d) > 0);
      if (c.method->name != "reformer") CHECK(bound.flops(d) >= last);
      last = bound.flops(d);
    }
  }
}
