// Statistical dimensions and sufficient landmarks as rows, against the lift written out.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/dimension.hpp>
#include <croquis/measure/lift_spectrum.hpp>
#include <croquis/random/indices.hpp>
#include <string>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

Problem<double> small_problem(const char* name) {
  return random_problem<double>(20, 4, 2, 2, Key(test_seed()).child("dimension").child(name));
}

// exp(-||x_i - y_j||^2 / (2 sqrt(p))), from the differences.
arma::mat kernel_of(const arma::mat& x, const arma::mat& y) {
  arma::mat kernel(x.n_rows, y.n_rows);
  for (arma::uword i = 0; i < x.n_rows; ++i) {
    for (arma::uword j = 0; j < y.n_rows; ++j) {
      kernel(i, j) =
          std::exp(-arma::accu(arma::square(x.row(i) - y.row(j))) / (2 * std::sqrt(static_cast<double>(x.n_cols))));
    }
  }
  return kernel;
}

}  // namespace

TEST_CASE("lift_dimensions: d_stat, leverage scores and norms are those of the lift by its definition") {
  const Problem<double> problem = small_problem("definition");
  const double width = 0.5;
  const DimensionSettings settings{.epsilons = {0.1, 0.5}, .trials = 0};
  const auto rows = lift_dimensions(problem, width, Key(1), settings);
  const arma::mat q = problem.Q() / width, k = problem.K() / width, points = arma::join_cols(q, k);
  const arma::mat c = kernel_of(q, k), m = kernel_of(points, points);
  REQUIRE(rows.size() == 2);
  for (std::size_t e = 0; e < 2; ++e) {
    const DimensionRow& row = rows[e];
    const double lambda = settings.epsilons[e] * arma::norm(c, 2);
    const arma::vec scores = arma::diagvec(arma::solve(m + lambda * arma::eye(40, 40), m));
    // Norms by Lanczos to 1e-6, and what a function of lambda makes of that.
    CHECK(row.epsilon == settings.epsilons[e]);
    CHECK(row.width == width);
    CHECK(row.status == "ok");
    CHECK(row.method == "dense");
    CHECK(row.lambda == doctest::Approx(lambda).epsilon(1e-5));
    CHECK(row.norm_c == doctest::Approx(arma::norm(c, 2)).epsilon(1e-5));
    CHECK(row.norm_lift == doctest::Approx(arma::norm(m, 2)).epsilon(1e-10));
    CHECK(row.stable_rank_c == doctest::Approx(std::pow(arma::norm(c, "fro") / arma::norm(c, 2), 2)).epsilon(1e-5));
    CHECK(row.d_stat == doctest::Approx(arma::accu(scores)).epsilon(1e-5));
    CHECK(row.leverage_max == doctest::Approx(scores.max()).epsilon(1e-5));
    // Of 40 scores, at the places 39 q from 0, as all quantiles (type 7).
    const arma::vec sorted = arma::sort(scores);
    CHECK(row.leverage_q10 == doctest::Approx(0.1 * sorted(3) + 0.9 * sorted(4)).epsilon(1e-5));
    CHECK(row.leverage_q50 == doctest::Approx((sorted(19) + sorted(20)) / 2).epsilon(1e-5));
    CHECK(row.leverage_q90 == doctest::Approx(0.9 * sorted(35) + 0.1 * sorted(36)).epsilon(1e-5));
    CHECK(row.beta == doctest::Approx(arma::mean(scores) / scores.max()).epsilon(1e-5));
    CHECK(row.d_theorem == std::ceil(56.0 / 3 * row.d_stat / row.beta * std::log(4 * 20 / 0.1)));
    const double squares = arma::accu(arma::square(problem.Q())) + arma::accu(arma::square(problem.K()));
    CHECK(row.norm == doctest::Approx(std::sqrt(squares / 40)).epsilon(1e-12));  // of Q and K as they were given
    CHECK(std::isnan(row.d_suffices));
    CHECK_FALSE(row.failures.has_value());
  }
}

TEST_CASE("lift_dimensions: a larger epsilon needs no more landmarks, and the rows do not change from call to call") {
  const Problem<double> problem = small_problem("search");
  const DimensionSettings settings{.epsilons = {0.2, 0.9}, .trials = 6};
  const Key key = Key(test_seed()).child("search");
  const auto rows = lift_dimensions(problem, 1, key, settings), again = lift_dimensions(problem, 1, key, settings);
  REQUIRE(rows.size() == 2);
  for (std::size_t e = 0; e < 2; ++e) {
    REQUIRE(rows[e].failures.has_value());
    CHECK(rows[e].trials == 6);
    CHECK(rows[e].failure_lo <= static_cast<double>(*rows[e].failures) / 6);
    CHECK(rows[e].failure_hi >= static_cast<double>(*rows[e].failures) / 6);
    CHECK(text_of(rows[e].d_suffices) == text_of(again[e].d_suffices));
  }
  REQUIRE(std::isfinite(rows[1].d_suffices));
  CHECK_FALSE(rows[0].d_suffices < rows[1].d_suffices);  // NaN, where 2n landmarks do not do, is no number at all
}

TEST_CASE("lift_dimensions: d suffices is the smallest at which no more draws fail than delta allows") {
  const Problem<double> problem =
      gaussian_input(Key(test_seed()).child("draws").child("input"), {.n = 64, .p = 4, .norm = 3});
  // 29 of them may fail. Many epsilons, so that for some of them the draws about the limit need different d.
  const DimensionSettings settings{
      .epsilons = {0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7}, .delta = 0.29, .trials = 100};
  const Key key = Key(test_seed()).child("draws");
  const auto rows = lift_dimensions(problem, 1, key, settings);
  const std::size_t epsilons = settings.epsilons.size();
  REQUIRE(rows.size() == epsilons);
  std::vector<std::vector<double>> needed(epsilons);  // of each draw
  for (std::uint64_t t = 1; t <= 100; ++t) {
    const auto d = sufficient_landmarks(problem, kernelized_scores(problem, true), rows[0].norm_c, settings.epsilons,
                                        key.child(64).child("trial").child(t));
    for (std::size_t e = 0; e < epsilons; ++e) needed[e].push_back(d[e]);
  }
  for (std::size_t e = 0; e < epsilons; ++e) {
    const auto failing_at = [&](double d) {
      return std::count_if(needed[e].begin(), needed[e].end(), [d](double x) { return x > d; });
    };
    REQUIRE(std::isfinite(rows[e].d_suffices));
    CHECK(failing_at(rows[e].d_suffices) <= 29);
    CHECK(failing_at(rows[e].d_suffices - 1) > 29);
    CHECK(rows[e].failures == static_cast<std::uint64_t>(failing_at(rows[e].d_suffices)));
  }
}

TEST_CASE("lift_dimensions: where not even 2n landmarks suffice every draw fails") {
  // Of 40 landmarks drawn with replacement about 25 are different.
  const auto row = lift_dimensions(small_problem("never"), 1, Key(1), {.epsilons = {1e-9}, .trials = 5}).front();
  CHECK(row.status == "ok");
  CHECK(std::isnan(row.d_suffices));
  CHECK(row.failures == 5U);
  CHECK(row.failure_hi == doctest::Approx(1));
}

TEST_CASE("lift_dimensions: where all scores underflow the status says so") {
  const Problem<double> problem(arma::zeros(2, 1), arma::mat(2, 1, arma::fill::value(60)), arma::ones(2, 1));
  for (const SpectrumMethod method : {SpectrumMethod::dense, SpectrumMethod::lanczos}) {
    for (const DimensionRow& row : lift_dimensions(problem, 1, Key(1), {.trials = 0, .spectrum = {.method = method}})) {
      CHECK(row.status == "C is zero: the scores of all queries and keys underflow");
      CHECK(std::isnan(row.d_stat));
    }
  }
}

TEST_CASE(
    "sufficient_landmarks: the Nystrom error, from the matrices written out, is within epsilon there and not before") {
  const Problem<double> problem = small_problem("error");
  const arma::mat c = kernel_of(problem.Q(), problem.K()), points = arma::join_cols(problem.Q(), problem.K());
  const arma::mat lift = kernel_of(points, points);
  const Key key = Key(test_seed()).child("error");
  const arma::uvec landmarks = sample_with_replacement(40, 40, key.child("landmarks"));
  const auto error = [&](double d) {
    const arma::uvec some = arma::unique(landmarks.head(static_cast<arma::uword>(d)));
    const arma::mat approximate = lift.cols(some) * arma::solve(lift.submat(some, some), lift.rows(some));
    return arma::norm(c - approximate.submat(0, 20, 19, 39), 2) / arma::norm(c, 2);
  };
  const std::vector<double> epsilons = {0.1, 0.2, 0.3, 0.4, 0.5};
  const auto found = sufficient_landmarks(problem, kernelized_scores(problem, true), arma::norm(c, 2), epsilons, key);
  for (std::size_t e = 0; e < epsilons.size(); ++e) {
    CAPTURE(epsilons[e]);
    const bool is_found = std::isfinite(found[e]);  // else 40 landmarks do not suffice
    if (is_found) CHECK(error(found[e]) <= epsilons[e] * (1 + 1e-3));
    const double before = is_found ? found[e] - 1 : 40;
    CHECK((before == 0 ? 1 : error(before)) > epsilons[e] * (1 - 1e-3));  // of no landmarks it is 1
  }
}

TEST_CASE("lift_dimensions: with Lanczos norms are those of the dense lift and leverage scores upper limits") {
  const Problem<double> problem = small_problem("lanczos");
  DimensionSettings settings{.epsilons = {0.1}, .trials = 0};
  const DimensionRow dense = lift_dimensions(problem, 1, Key(1), settings).front();
  settings.spectrum = {SpectrumMethod::lanczos, 6, 16};
  const DimensionRow row = lift_dimensions(problem, 1, Key(1), settings).front();
  CHECK(row.method == "lanczos");
  CHECK(row.norm_c == doctest::Approx(dense.norm_c).epsilon(1e-5));
  CHECK(row.norm_lift == doctest::Approx(dense.norm_lift).epsilon(1e-5));
  CHECK(row.stable_rank_c == doctest::Approx(dense.stable_rank_c).epsilon(1e-5));
  CHECK(row.stable_rank_lift == doctest::Approx(dense.stable_rank_lift).epsilon(1e-5));
  CHECK(row.d_stat_lo < row.d_stat);
  CHECK(row.d_stat < row.d_stat_hi);
  // On the safe side.
  CHECK(row.beta == doctest::Approx(std::min(1.0, row.d_stat_lo / 40 / row.leverage_max)).epsilon(1e-12));
  CHECK(row.d_theorem == std::ceil(56.0 / 3 * row.d_stat_hi / row.beta * std::log(4 * 20 / 0.1)));
  const auto no_less = [](double limit, double score) { return limit >= score * (1 - 1e-5); };
  CHECK(no_less(row.leverage_max, dense.leverage_max));
  CHECK(no_less(row.leverage_q90, dense.leverage_q90));
  CHECK(no_less(row.leverage_q50, dense.leverage_q50));
  CHECK(no_less(row.leverage_q10, dense.leverage_q10));
}

TEST_CASE("lift_dimensions: a requested stop leaves no rows") {
  const Problem<double> problem = small_problem("stop");
  std::atomic<int> asked{0};
  DimensionSettings settings{.epsilons = {0.5}, .trials = 4};
  settings.stop_requested = [&] { return ++asked > 1; };  // after the first draw has begun
  CHECK(lift_dimensions(problem, 1, Key(1), settings).empty());
  CHECK(asked >= 2);
  settings.stop_requested = [] { return false; };
  CHECK(lift_dimensions(problem, 1, Key(1), settings).size() == 1);
}

TEST_CASE("lift_dimensions: settings out of range are refused") {
  const Problem<double> problem = small_problem("refused");
  const auto said = [&](double width, const DimensionSettings& settings) {
    return refusal([&] { lift_dimensions(problem, width, Key(1), settings); });
  };
  CHECK(said(0, {}).find("width") != std::string::npos);
  CHECK(said(1, {.epsilons = {}}).find("epsilon") != std::string::npos);
  CHECK(said(1, {.epsilons = {1.0}}).find("epsilon") != std::string::npos);
  CHECK(said(1, {.delta = 0.5}).find("delta") != std::string::npos);
  CHECK(said(1, {.spectrum = {.probes = 1}}).find("probes") != std::string::npos);
}

TEST_CASE("dimension_columns: rows come back from a table with all that they had") {
  const auto rows = lift_dimensions(small_problem("columns"), 1, Key(1), {.epsilons = {0.5}, .trials = 3});
  Table table{dimension_columns().list(), {}};
  for (const DimensionRow& row : rows) table.rows.push_back(dimension_columns().record(row));
  const auto back = dimension_columns().rows(table);
  REQUIRE(back.size() == rows.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    CAPTURE(table.columns[c].name);
    CHECK(text_of(dimension_columns().record(back[0])[c]) == text_of(table.rows[0][c]));
  }
}

TEST_CASE("dimension_curves: a curve an input, width and epsilon, with the exponent of n between its ends") {
  std::vector<DimensionRow> rows;
  for (const std::uint64_t n : {100, 200, 400}) {
    for (const double epsilon : {0.1, 0.5}) {
      DimensionRow row;
      row.input = "head";
      row.n = n;
      row.epsilon = epsilon;
      row.d_stat = 3 * std::sqrt(static_cast<double>(n)) / epsilon;
      rows.push_back(row);
    }
  }
  rows.push_back(rows.back());
  rows.back().status = "failed";
  const auto curves = dimension_curves(rows);
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].n == std::vector<double>{100, 200, 400});
  CHECK(curves[1].n == std::vector<double>{100, 200, 400});  // without the row that failed
  const auto summaries = summarise_dimensions(curves);
  REQUIRE(summaries.size() == 6);
  CHECK(summaries[0].metric == "d_stat");
  CHECK(summaries[0].epsilon == "0.1");
  CHECK(summaries[0].sizes == 3);
  CHECK(summaries[0].first_n == 100);
  CHECK(summaries[0].last_n == 400);
  CHECK(summaries[0].last == rows[4].d_stat);
  CHECK(summaries[0].exponent == doctest::Approx(0.5));
  CHECK(std::isnan(summaries[2].exponent));  // d_suffices, which no row has
}
