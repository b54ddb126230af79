// What the interface promises for every method there is, and the edges of those whose output is known there.
#include <doctest/doctest.h>
#include <croquis/attention/method.hpp>
#include <croquis/measure/errors.hpp>

#include <set>
#include <stdexcept>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/methods.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

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
  for (const char* name : {"v-mean", "best-rank-d", "skyformer", "skyformer-softmax", "nystromformer",
                           "linformer-unreduced", "skeinformer"}) {
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
  const Problem<double> problem = random_problem<double>(4, 2, 2, 1, Key(1));
  for (const Method<double>& method : methods<double>()) {
    CAPTURE(method.name);
    const std::string message = refusal([&] { prepare(method, problem, with("colour", "red")); });
    CHECK(contains(message, method.name + ": "));
    CHECK(contains(message, "got option = colour"));
    if (method.options.empty()) CHECK(contains(message, "takes no options"));
    for (const OptionInfo& option : method.options) {
      CHECK(contains(message, option.name));
      const std::string wrong = refusal([&] { prepare(method, problem, with(option.name, "?")); });
      CHECK(contains(wrong, "?"));
      CHECK(contains(wrong, option.name == "indices" ? "cannot be opened" : option.name));
    }
  }
}

TEST_CASE_TEMPLATE("methods: every choice that is listed is accepted, and the default value is what runs without it", T,
                   float, double) {
  const Problem<T> problem = random_problem<T>(19, 4, 2, 2, Key(test_seed()).child("choices"));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    CHECK(run_if_taken(c, problem, 8).has_value());
  }
  for (const Method<T>& method : methods<T>()) {
    for (const OptionInfo& option : method.options) {
      if (option.default_value.empty()) continue;
      const PreparedMethod<T> said = prepare(method, problem, with(option.name, option.default_value));
      CAPTURE(method.name);
      CAPTURE(option.name);
      CHECK(identical(said.approximate(8, Key(2)).output, prepare(method, problem).approximate(8, Key(2)).output));
    }
  }
}

TEST_CASE_TEMPLATE("methods: scores times V is the output, and apply_transposed the transpose of apply", T, float,
                   double) {
  // Moderate norms and few landmarks, so that no inverse is beyond 1e3: the products differ by 1e3 n^2 u at most.
  const Problem<T> problem = random_problem<T>(40, 8, 3, 4, Key(31));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    for (const arma::uword d : {1U, 8U}) {
      const auto approximation = run_if_taken(c, problem, d, Key(32));
      if (!approximation) continue;
      REQUIRE(arma::size(approximation->output) == arma::SizeMat(40, 3));
      CHECK(approximation->output.is_finite());
      const double bound = 1e3 * 40 * 40 * unit<T>();
      if (approximation->scores) CHECK(interface_gap(*approximation, problem) <= bound);
      if (!approximation->row_sums) continue;
      const arma::Mat<T> sums = approximation->scores->apply(arma::Mat<T>(40, 1, arma::fill::ones));
      CHECK(distance(*approximation->row_sums, Dense(sums)) <= bound);
    }
  }
}

TEST_CASE_TEMPLATE("methods: the same bits for the same random key and for any number of threads", T, float, double) {
  const Problem<T> long_one = random_problem<T>(300, 16, 8, 4, Key(test_seed()).child("threads")),
                   short_one = random_problem<T>(70, 16, 8, 4, Key(test_seed()).child("threads"));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    const Problem<T>& problem = c.options.all().empty() ? long_one : short_one;
    const Key draw_key = Key(test_seed()).child(c.text);
    const auto output = [&](int team) {
      const ThreadCount count(team);
      return run(c, problem, 20, draw_key).output;
    };
    const arma::Mat<T> expected = output(1);
    CHECK(identical(output(2), expected));
    if (c.options.all().empty()) CHECK(identical(output(4), expected));
    const bool drawn = c.method->random(c.options);
    CHECK(identical(run(c, problem, 20, draw_key.child("other")).output, expected) == !drawn);
  }
}

TEST_CASE("methods: a draw is the same in float and in double, but for the normals of a Gaussian sketch") {
  const Problem<float> single = random_problem<float>(64, 8, 4, 2, Key(31));
  const Problem<double> problem(arma::conv_to<arma::mat>::from(single.Q()), arma::conv_to<arma::mat>::from(single.K()),
                                arma::conv_to<arma::mat>::from(single.V()));
  const std::vector<Case<float>> in_float = all_cases<float>();
  const std::vector<Case<double>> in_double = all_cases<double>();
  REQUIRE(in_float.size() == in_double.size());
  for (std::size_t i = 0; i < in_float.size(); ++i) {
    const std::string& text = in_double[i].text;
    CAPTURE(text);
    REQUIRE(in_float[i].text == text);
    const auto found = run_if_taken(in_float[i], single, 16, Key(32));
    const auto expected = run_if_taken(in_double[i], problem, 16, Key(32));
    REQUIRE(found.has_value() == expected.has_value());
    if (!found) continue;
    const double gap =
        distance(found->output, Dense(expected->output)) / static_cast<double>(largest_entry_of(expected->output));
    const bool sketched = text.starts_with("linformer") && !contains(text, "=uniform") && !contains(text, "=segments");
    CHECK((gap > 1e-3) == sketched);  // rounding is below 1e-5 here, the sketches are off by more than a half
  }
}

TEST_CASE_TEMPLATE("methods: one prepared method runs on several threads at once", T, float, double) {
  const Problem<T> problem = random_problem<T>(60, 8, 4, 4, Key(test_seed()).child("together"));
  const ThreadCount count(4);
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    const PreparedMethod<T> prepared = prepare(*c.method, problem, c.options);
    std::vector<arma::Mat<T>> together(8), alone(8);
    // Few draws have a row that rounding may decide. They are refused on any thread, and have no output.
    const auto output_of = [&](std::size_t i) {
      try {
        return prepared.approximate(8 + 2 * i, Key(i)).output;
      } catch (const std::runtime_error& refused) {
        if (!contains(refused.what(), "rounding may decide")) throw;
        return arma::Mat<T>();
      }
    };
    parallel_for(8, [&](std::size_t i) { together[i] = output_of(i); });
    parallel_for(1, [&](std::size_t) {
      for (std::size_t i = 0; i < 8; ++i) alone[i] = output_of(i);
    });
    for (std::size_t i = 0; i < 8; ++i) CHECK(identical(together[i], alone[i]));
  }
}

TEST_CASE_TEMPLATE("methods: one token, one column, equal tokens and zeros are no error", T, float, double) {
  const Key draw_key = Key(test_seed()).child("edges");
  const arma::Mat<T> zero(9, 3, arma::fill::zeros), v = random_matrix<T>(9, 2, draw_key.child("v"));
  const Problem<T> one = random_problem<T>(1, 3, 2, 2, draw_key);
  // A fixed draw: on a line the kernel of nine tokens is nearly singular, and rounding may decide rows of other draws.
  const Problem<T> narrow = random_problem<T>(9, 1, 1, 2, Key(3));
  const Problem<T> still(zero, zero, v);  // Q = K = 0
  const Problem<T> worthless(random_matrix<T>(9, 3, draw_key), zero, arma::Mat<T>(9, 2, arma::fill::zeros));
  const Problem<T> equal(arma::repmat(random_matrix<T>(1, 3, draw_key.child("q")), 9, 1),
                         arma::repmat(random_matrix<T>(1, 3, draw_key.child("k")), 9, 1), v);
  // At this distance six steps of the iterative inverse leave most: 1 % of an eigenvalue of 0.02.
  arma::Mat<T> beside(9, 3, arma::fill::zeros);
  beside.col(0).fill(T(0.38));
  const Problem<T> close(beside, zero, v);
  const arma::Mat<T> alike = arma::repmat(v.row(0), 9, 1);
  const Problem<T> equal_values(equal.Q(), equal.K(), alike);
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    if (c.text == "nystromformer landmarks=stratified") {  // one key cannot be halved
      CHECK(contains(refusal([&] { run(c, one, 1); }), "at least two points"));
    } else if (const auto approximation = run_if_taken(c, one, 1)) {
      CHECK(approximation->output.is_finite());
    }
    for (const arma::uword d : {1U, 2U, 8U, 9U}) {
      CAPTURE(d);
      if (const auto approximation = run_if_taken(c, narrow, d)) CHECK(approximation->output.is_finite());
      if (const auto approximation = run_if_taken(c, worthless, d)) CHECK(approximation->output.is_zero());
      if (const auto approximation = run_if_taken(c, equal_values, d);
          approximation && c.method->rows_sum_to_one(c.options) && c.text.find("trf") == std::string::npos) {
        // Averages of 9 equal numbers in weights that are off by a few n u. (Those of sines and cosines have both
        // signs, and may be as large as you like.)
        CHECK(distance(approximation->output, alike) <= 100 * 9 * unit<T>() * static_cast<double>(largest_entry_of(v)));
      }
      for (const Problem<T>& problem : {still, equal, close}) {
        const auto approximation = run_if_taken(c, problem, d);
        if (!approximation) continue;
        CHECK(approximation->output.is_finite());
        if (!c.method->exact_on_equal_tokens(c.options)) continue;
        // All nine weights of a row are equal: 1 / 9, or exp(-|q - k|^2 / (2 sqrt(p))).
        const double distance_squared = std::pow(arma::norm(problem.Q().row(0) - problem.K().row(0)), 2);
        const T weight = c.method->target == Target::kernelized
                             ? static_cast<T>(std::exp(-distance_squared / (2 * std::sqrt(3.0))))
                             : T(1) / T(9);
        const Dense exact = arma::Mat<T>(9, 9, arma::fill::value(weight)) * problem.V();
        // Sums of 9 to 81 terms and an inverse of condition 1e3 at most, all of it within 1e3 n^2 u.
        CHECK(distance(approximation->output, exact) <=
              1e3 * 81 * unit<T>() * static_cast<double>(largest_entry_of(v)));
      }
    }
  }
}

TEST_CASE_TEMPLATE("methods: a d they do not take is refused by name, with d and n", T, float, double) {
  const Problem<T> problem = random_problem<T>(6, 3, 2, 1, Key(test_seed()).child("d"));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    const auto most = c.method->largest_d({6, 6}, c.options);
    if (!most) {
      CHECK_NOTHROW(run(c, problem, 100));
      continue;
    }
    CHECK_NOTHROW(run(c, problem, *most));
    const std::string message = refusal([&] { run(c, problem, *most + 1); });
    CHECK(contains(message, "d = " + std::to_string(*most + 1)));
    CHECK(contains(message, " = 6"));
    CHECK(contains(refusal([&] { run(c, problem, 0); }), "d = 0"));
  }
}

TEST_CASE("methods: the count of flops is finite and positive") {
  const Problem<double> problem = random_problem<double>(50, 8, 4, 1, Key(1));
  for (const Case<double>& c : all_cases<double>()) {
    CAPTURE(c.text);
    const PreparedMethod<double> prepared = prepare(*c.method, problem, c.options);
    for (const double d : {2.0, 10.0, 50.0}) {
      CHECK(std::isfinite(prepared.flops(d)));
      CHECK(prepared.flops(d) > 0);
    }
  }
}
