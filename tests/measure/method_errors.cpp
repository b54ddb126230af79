#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/measure/method_errors.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Problem<double> measured_problem(arma::uword n) {
  const Key key = Key(test_seed()).child("method errors");
  return {random_matrix<double>(n, 4, key.child("q")), random_matrix<double>(n, 4, key.child("k")),
          random_matrix<double>(n, 3, key.child("v"))};
}

}  // namespace

TEST_CASE("method errors: a row is the error of that draw, computed by hand") {
  const Problem<double> problem = measured_problem(30);
  const Key key(5);
  const auto rows = method_errors(problem, parse_methods("v-mean,linformer"), {4, 8}, 3, key);
  REQUIRE(rows.size() == 2 + 2 * 3);  // v-mean draws nothing
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  for (const ErrorRow& row : rows) {
    const Method<double>& method = find_method<double>(row.method);
    const arma::mat output =
        prepare(method, problem)
            .approximate(row.features, key.child("draws").child(row.method).child(row.features).child(row.trial))
            .output;
    const arma::mat difference = exact - output;
    CHECK(row.status == "ok");
    CHECK(row.frobenius_abs == doctest::Approx(std::sqrt(arma::accu(difference % difference))));
    CHECK(row.spectral_rel == doctest::Approx(arma::svd(difference).max() / arma::svd(exact).max()));
    CHECK(row.max_abs == doctest::Approx(arma::abs(difference).max()));
    CHECK(row.n == 30);
    CHECK(row.target == "softmax");
  }
}

TEST_CASE("method errors: row sums, denominators and scores of a draw, computed by hand") {
  const Problem<double> problem = measured_problem(30);
  const Key key(5);
  const auto rows = method_errors(problem, parse_methods("linformer-unreduced,performer,skeinformer"), {6}, 1, key,
                                  {.rows = {}, .scores = true});
  REQUIRE(rows.size() == 3);
  const arma::mat weights = arma::exp(problem.Q() * problem.K().t() / 2);
  const arma::vec sums = arma::sum(weights, 1);
  const arma::mat exact = arma::diagmat(1 / sums) * weights;
  for (const ErrorRow& row : rows) {
    CAPTURE(row.method);
    const Approximation<double> approximation =
        prepare(find_method<double>(row.method), problem)
            .approximate(6, key.child("draws").child(row.method).child(6).child(1));
    CHECK(row.status == "ok");
    const arma::mat scores = approximation.scores.value().dense();
    CHECK(std::abs(row.row_sum_dev - arma::abs(arma::sum(scores, 1) - 1).max()) <= 1e-12);
    // Norms by Lanczos to 1e-4.
    const double norm = arma::svd(exact - scores).max();
    CHECK(row.scores_spectral_abs == doctest::Approx(norm).epsilon(1e-3));
    CHECK(row.scores_spectral_rel == doctest::Approx(norm / arma::svd(exact).max()).epsilon(1e-3));
    CHECK(std::isfinite(row.min_denominator) == (row.method != "linformer-unreduced"));
    if (!approximation.denominators) continue;
    const auto& [values, log_scale] = *approximation.denominators;
    CHECK(row.min_denominator == doctest::Approx(arma::min(values % arma::exp(log_scale) / sums)).epsilon(1e-10));
  }
  CHECK(rows[0].row_sum_dev > 0.01);
}

TEST_CASE("method errors: what fails is a status, and a row that fails has no errors") {
  const auto rows = method_errors(measured_problem(30), parse_methods("skyformer,v-mean"), {61}, 1, Key(1));
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].status == "ok");
  const auto quadratic =
      method_errors(measured_problem(30), parse_methods("best-rank-d"), {4}, 1, Key(1), {.rows = 20, .scores = false});
  CHECK(quadratic[0].status.find("O(n^2)") != std::string::npos);
  CHECK(std::isnan(quadratic[0].spectral_abs));
  for (const auto& [choice, status] : {std::pair("kdeformer", "ok"), std::pair("kdeformer:probabilities=exact", "")}) {
    const auto one =
        method_errors(measured_problem(30), parse_methods(choice), {4}, 1, Key(1), {.rows = 20, .scores = false});
    CHECK(one[0].status == (*status ? status : quadratic[0].status));
  }
  CHECK(contains(refusal([&] {
                   method_errors(measured_problem(30), parse_methods("v-mean"), {4}, 1, Key(1),
                                 {.rows = 20, .bounds = true});
                 }),
                 "bounds: goes without rows"));
}

TEST_CASE("method errors: row sums and denominators that are not numbers are failures, which are not told as NA") {
  // The output is that of linformer; of what comes with it one entry is NaN.
  const auto row_with = [](const std::function<void(Approximation<double>&)>& spoil, ErrorSettings settings = {}) {
    Method<double> own = find_method<double>("linformer");
    own.prepare = [spoil, inner = own.prepare](const Problem<double>& problem, const OptionValues& options) {
      PreparedMethod<double> prepared = inner(problem, options);
      prepared.approximate = [spoil, inner = prepared.approximate](arma::uword d, const Key& key) {
        Approximation<double> approximation = inner(d, key);
        approximation.row_sums = arma::vec(30, arma::fill::ones);
        approximation.denominators = {arma::vec(30, arma::fill::ones), arma::vec(30, arma::fill::zeros)};
        spoil(approximation);
        return approximation;
      };
      return prepared;
    };
    MethodErrors<double> errors(measured_problem(30), settings, {Key(1), Key(2)});
    return errors.prepare(own, {}, "").row(8, 1);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ErrorRow good = row_with([](Approximation<double>&) {});
  CHECK(good.status == "ok");
  CHECK(good.row_sum_dev == 0);
  CHECK(std::isfinite(good.min_denominator));
  for (const ErrorSettings& settings : {ErrorSettings{}, ErrorSettings{.rows = 20}}) {
    const auto spoilt_sums = [&](Approximation<double>& a) { (*a.row_sums)(7) = nan; };
    const auto spoilt_denominators = [&](Approximation<double>& a) { a.denominators->values.tail(20).fill(nan); };
    for (const ErrorRow& row : {row_with(spoilt_sums, settings), row_with(spoilt_denominators, settings)}) {
      CHECK(std::isnan(row.spectral_abs));
      CHECK(std::isfinite(row.seconds));
    }
    CHECK(row_with(spoilt_sums, settings).status == "not finite: row_sum_dev = nan");
    CHECK(row_with(spoilt_denominators, settings).status == "not finite: min_denominator = nan");
    // Multiples of the true sums that overflow say nothing against the output.
    for (const double sign : {1.0, -1.0}) {
      const ErrorRow beyond = row_with(
          [&](Approximation<double>& a) { a.denominators->values.fill(sign), a.denominators->log_scale.fill(800); },
          settings);
      CHECK(beyond.status == "ok");
      CHECK(std::isnan(beyond.min_denominator));
      CHECK(beyond.frobenius_rel == row_with([](Approximation<double>&) {}, settings).frobenius_rel);
    }
    // What the method does not have does not apply, and an output that is not finite is the first reason.
    const auto without = [](Approximation<double>& a) { a.scores.reset(), a.denominators.reset(); };
    CHECK(row_with(without, settings).status == "ok");
    CHECK(std::isnan(row_with(without, settings).row_sum_dev));
    const auto all_spoilt = [&](Approximation<double>& a) { a.output.fill(nan), spoilt_sums(a); };
    CHECK(row_with(all_spoilt, settings).status == "the output is not finite");
  }
}

TEST_CASE("method errors: the keys of a seed name the kind of input, method, features and trial") {
  const ErrorKeys keys = error_keys(7, "arrays");
  CHECK(keys.draws.name() == Key(7).child("error").child("arrays").name());
  CHECK(keys.sample.name() == Key(7).child("error").child("rows").name());
  CHECK(keys.draw("skyformer", 16, 3).name() == keys.draws.child("skyformer").child(16).child(3).name());
  const Problem<double> problem = measured_problem(30);
  const auto rows = method_errors(problem, parse_methods("linformer,performer"), {8, 4}, 3, keys);
  REQUIRE(rows.size() == 2 * 2 * 3);
  MethodErrors<double> one_by_one(problem, {}, keys);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ErrorRow& row = rows[i];
    CHECK(row.method == (i < 6 ? "linformer" : "performer"));
    CHECK(row.features == (i / 3 % 2 == 0 ? 8 : 4));
    CHECK(row.trial == i % 3 + 1);
    const auto alone = one_by_one.prepare(parse_methods(row.method).front()).row(row.features, row.trial);
    CHECK(row.frobenius_abs == alone.frobenius_abs);
  }
}

TEST_CASE("method errors: a method that is not in the registry has rows as others") {
  const Problem<double> problem = measured_problem(30);
  Method<double> own = find_method<double>("linformer");
  own.name = "own";
  own.target = Target::kernelized;  // another exact output than that of the name
  MethodErrors<double> errors(problem, {}, {Key(1), Key(2)});
  const ErrorRow row = errors.prepare(own, {{"shared", "yes"}}, "shared=yes").row(8, 3);
  const arma::mat exact = exact_attention(problem, Target::kernelized).output;
  const arma::mat output = prepare(find_method<double>("linformer"), problem, {{"shared", "yes"}})
                               .approximate(8, Key(1).child("own").child(8).child(3))
                               .output;
  CHECK(row.status == "ok");
  CHECK(row.method == "own");
  CHECK(row.preset == "shared=yes");
  CHECK(row.target == "kernelized");
  CHECK(row.frobenius_abs == doctest::Approx(arma::norm(exact - output, "fro")));
}

TEST_CASE("method errors: rows that cannot be, that were not drawn, or of an exact output that is not finite") {
  const Problem<double> problem = measured_problem(30);
  const ErrorKeys keys{Key(1), Key(2)};
  CHECK(contains(refusal([&] { MethodErrors<double>(problem, {.rows = 31}, keys); }), "rows: 31 is none of"));
  MethodErrors<double> errors(problem, {.rows = 20, .rows_of_each_trial = true}, keys);
  const auto prepared = errors.prepare(parse_methods("v-mean").front());
  CHECK(contains(prepared.row(4, 2).status, "trial 2 has no rows"));
  errors.sample_rows({2, 5});
  CHECK(prepared.row(4, 2).status == "ok");
  CHECK(prepared.row(4, 2).frobenius_abs != prepared.row(4, 5).frobenius_abs);
  arma::mat exact(4, 2, arma::fill::ones);
  exact(1, 1) = arma::datum::nan;
  CHECK(refusal<std::runtime_error>([&] { OutputReference reference(exact); }) == "the exact output is not finite");
}

TEST_CASE("method errors: an output that is rounding alone has absolute errors and no relative ones") {
  const Problem<double> drawn = measured_problem(64);
  arma::mat centred = drawn.V();
  centred.each_row() -= arma::mean(centred, 0);
  const arma::mat equal_keys = arma::repmat(drawn.K().row(0), 64, 1);
  const auto rows_of = [&](const arma::mat& v, ErrorSettings settings) {
    return method_errors(Problem<double>(drawn.Q(), equal_keys, v), parse_methods("linformer,skyformer"), {8}, 2,
                         Key(5), settings);
  };
  for (const std::optional<arma::uword> sampled : {std::optional<arma::uword>(), std::optional<arma::uword>(64)}) {
    const ErrorSettings settings{.rows = sampled, .row_errors = true};
    for (const ErrorRow& row : rows_of(centred, settings)) {
      CAPTURE(row.method);
      CHECK(row.status == "ok");
      CHECK((row.frobenius_abs > 0.01) == (row.method == "linformer"));  // skyformer keeps a constant row of C
      CHECK(std::isnan(row.spectral_rel));
      CHECK(std::isnan(row.frobenius_rel));
      CHECK(std::isnan(row.row_rel_max));
    }
    for (const ErrorRow& row : rows_of(centred + 1e-10, settings)) {
      CHECK((row.frobenius_rel > 1e6) == (row.method == "linformer"));
      CHECK(row.frobenius_rel >= 0);
    }
  }
}
