#include <doctest/doctest.h>
#include <croquis/inputs/synthetic.hpp>

#include <limits>
#include <set>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

std::vector<double> entries_of(const arma::mat& m, double deviation) {
  std::vector<double> sample;
  for (const double x : m) sample.push_back(x / deviation);
  return sample;
}

arma::vec norms_of(const arma::mat& m) {
  return arma::sqrt(arma::sum(arma::square(m), 1));
}

std::size_t distinct_rows(const arma::mat& m) {
  std::set<std::vector<double>> rows;
  for (arma::uword i = 0; i < m.n_rows; ++i) rows.insert(arma::conv_to<std::vector<double>>::from(m.row(i)));
  return rows.size();
}

const SyntheticSize kSize = {.n = 500, .p = 8, .norm = 3};

}  // namespace

TEST_CASE("sphere_input: rows have norm R, directions are those of the Gaussian rows, uniform") {
  const Key draw_key = Key(test_seed()).child("sphere");
  const Problem<double> problem = sphere_input(draw_key, kSize), gaussian = gaussian_input(draw_key, kSize);
  for (const arma::mat* m : {&problem.Q(), &problem.K()}) {
    CHECK(largest_entry_of(norms_of(*m) - 3) <= 3 * 16 * unit<double>());  // a norm of 8 squares and a quotient
  }
  // Normalised Gaussian rows are uniform (Muller 1959).
  for (const auto& [points, normal] : {std::pair(problem.Q(), gaussian.Q()), std::pair(problem.K(), gaussian.K())}) {
    CHECK(distance(points / 3, normal.each_col() / norms_of(normal)) <= 32 * unit<double>());
  }
  CHECK(identical(problem.V(), gaussian.V()));
}

TEST_CASE("clustered_input: without spread k different queries, equal to their keys; spread is relative to R") {
  const Key draw_key = Key(test_seed()).child("clustered");
  const Problem<double> points = clustered_input(draw_key, kSize, {.clusters = 5, .spread = 0});
  CHECK(distinct_rows(points.Q()) == 5);  // by chance 4: 5 (4/5)^500 = 1e-48
  CHECK(distinct_rows(points.V()) == 5);
  CHECK(identical(points.Q(), points.K()));
  const arma::mat values = clustered_input(draw_key, {.n = 500, .p = 8, .norm = 9}, {.clusters = 500, .spread = 0}).V();
  CHECK(sample_is_normal(entries_of(values.rows(arma::find_unique(values.col(0))), 1), 1e-9));
  CHECK(largest_entry_of(norms_of(points.Q()) - 3) <= 3 * 16 * unit<double>());
  const Problem<double> clouds = clustered_input(draw_key, kSize, {.clusters = 5, .spread = 0.5});
  CHECK(sample_is_normal(entries_of(clouds.Q() - points.Q(), 0.5 * 3 / std::sqrt(8.0)), 1e-9));
  CHECK(sample_is_normal(entries_of(clouds.V() - points.V(), 0.5), 1e-9));
  const auto around_query = entries_of(clouds.Q() - points.Q(), 0.5 * 3 / std::sqrt(8.0)),
             around_key = entries_of(clouds.K() - points.K(), 0.5 * 3 / std::sqrt(8.0));
  CHECK(sample_is_normal(around_key, 1e-9));
  CHECK(samples_are_uncorrelated(around_query, around_key, 1e-9));
  CHECK_FALSE(samples_are_uncorrelated(around_query, around_query, 1e-9));
}

TEST_CASE("heavy_norms_input: norms are R times Pareto, P(t > x) = x^-tail, on the directions of the sphere") {
  const Key draw_key = Key(test_seed()).child("heavy");
  const SyntheticSize size = {.n = 4000, .p = 4, .norm = 2};
  for (const double tail : {1.0, 3.0}) {
    const Problem<double> problem = heavy_norms_input(draw_key, size, {.tail = tail});
    const arma::vec t = norms_of(problem.Q()) / 2;
    CHECK(t.min() >= 1 - 1e-12);
    for (const double x : {1.5, 2.0, 4.0}) {
      const auto above = static_cast<double>(arma::accu(t > x));
      CHECK(is_binomial(above, 4000, std::pow(x, -tail), 1e-9));
      if (x > 2) continue;
      // A lighter tail: 11 deviations and more off.
      CHECK_FALSE(is_binomial(above, 4000, std::pow(x, -tail - 0.7), 1e-9));
    }
    // Both norms above 2 have the product of their probabilities, as norms of keys that are those of queries have not.
    const arma::vec of_keys = norms_of(problem.K()) / 2;
    const double both = std::pow(2.0, -2 * tail);
    CHECK(is_binomial(static_cast<double>(arma::accu(t > 2 && of_keys > 2)), 4000, both, 1e-9));
    CHECK_FALSE(is_binomial(static_cast<double>(arma::accu(t > 2)), 4000, both, 1e-9));
    CHECK(distance(problem.K().each_col() / norms_of(problem.K()), sphere_input(draw_key, size).K() / 2) <= 1e-14);
  }
}

TEST_CASE("low_rank_input: Q, K and V have rank k together, rows of Q root mean square norm R") {
  const Key draw_key = Key(test_seed()).child("low rank");
  const Problem<double> problem = low_rank_input(draw_key, {.n = 100, .p = 16, .norm = 5}, {.rank = 3});
  const arma::vec values = arma::svd(arma::mat(arma::join_rows(problem.Q(), problem.K(), problem.V())));
  CHECK(values(2) > 1e-3 * values(0));
  CHECK(values(3) < 100 * 48 * unit<double>() * values(0));
  double squares = 0;
  for (std::uint64_t t = 0; t < 400; ++t) {
    const arma::mat q = low_rank_input(draw_key.child(t), {.n = 10, .p = 16, .norm = 5}, {.rank = 3}).Q();
    squares += arma::accu(arma::square(q)) / 10 / 400;
  }
  // Of 3 x 16 weights and 10 tokens: deviation of one mean square is below its size, of 400 below 1/20 of 25.
  CHECK(std::abs(squares - 25) < 6.2 * 25 / 20);
  CHECK(arma::rank(low_rank_input(draw_key, {.n = 40, .p = 4, .norm = 5}, {.rank = 9}).Q()) == 4);
  CHECK(identical(low_rank_input(draw_key, {.n = 40, .p = 4, .norm = 5}, {.rank = 9}).Q(),
                  low_rank_input(draw_key, {.n = 40, .p = 4, .norm = 5}, {.rank = 4}).Q()));
}

TEST_CASE("low_rank_input: keys are of the norm of queries and independent of them, values N(0, 1) whatever the norm") {
  // Mean squares of one token, whose deviation is below their mean: 0.5 for the token of 4 dimensions, and 1.5 x 2/16
  // for the 16 columns, are the square of 0.83.
  double q = 0, k = 0, v = 0, product = 0;
  constexpr int draws = 2000;
  for (std::uint64_t t = 0; t < draws; ++t) {
    const Problem<double> one =
        low_rank_input(Key(test_seed()).child("low rank").child(t), {.n = 1, .p = 16, .norm = 5}, {.rank = 4});
    q += arma::accu(arma::square(one.Q())) / 25 / draws;
    k += arma::accu(arma::square(one.K())) / 25 / draws;
    v += arma::accu(arma::square(one.V())) / 16 / draws;
    product += arma::accu(one.Q() % one.K()) / 25 / draws;
  }
  const double six_deviations = 6.2 / std::sqrt(static_cast<double>(draws));
  CHECK(std::abs(q - 1) < six_deviations);
  CHECK(std::abs(k - 1) < six_deviations);
  CHECK(std::abs(v - 1) < six_deviations);
  CHECK(std::abs(product) < six_deviations);
}

TEST_CASE("duplicates_input: k different tokens, uniform, repeated in Q, K and V together") {
  const Key draw_key = Key(test_seed()).child("duplicates");
  const Problem<double> problem = duplicates_input(draw_key, kSize, {.distinct = 4});
  CHECK(distinct_rows(problem.Q()) == 4);
  CHECK(distinct_rows(arma::mat(arma::join_rows(problem.Q(), problem.K(), problem.V()))) == 4);
  const Problem<double> tokens = gaussian_input(draw_key, {.n = 4, .p = 8, .norm = 3});
  std::vector<double> counts(4, 0);
  for (arma::uword i = 0; i < 500; ++i) {
    for (arma::uword t = 0; t < 4; ++t)
      counts[t] += arma::approx_equal(problem.K().row(i), tokens.K().row(t), "absdiff", 0);
  }
  CHECK(counts[0] + counts[1] + counts[2] + counts[3] == 500);
  CHECK(counts_follow(counts, std::vector<double>(4, 0.25), 1e-9));
}

TEST_CASE("synthetic inputs: wrong parameters are refused, by name") {
  const Key draw_key(1);
  CHECK(contains(refusal([&] { sphere_input(draw_key, {.norm = -1}); }), "a finite norm >= 0, got norm = -1"));
  CHECK(contains(refusal([&] { clustered_input(draw_key, kSize, {.clusters = 0}); }), "clusters >= 1"));
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const double spread : {-1.0, inf}) {
    CHECK(contains(refusal([&] { clustered_input(draw_key, kSize, {.spread = spread}); }), "spread >= 0 and finite"));
  }
  for (const double tail : {0.0, inf}) {
    CHECK(contains(refusal([&] { heavy_norms_input(draw_key, kSize, {.tail = tail}); }), "tail > 0 and finite"));
  }
  CHECK(contains(refusal([&] { low_rank_input(draw_key, kSize, {.rank = 0}); }), "rank >= 1"));
  CHECK(contains(refusal([&] { duplicates_input(draw_key, kSize, {.distinct = 0}); }), "distinct >= 1"));
}
