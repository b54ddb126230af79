#include <doctest/doctest.h>
#include <croquis/attention/best_rank.hpp>
#include <croquis/attention/exact.hpp>

#include <cmath>

#include "support/attention.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kTokens = 24;

template <typename T>
struct Example {
  Problem<T> problem = random_problem<T>(kTokens, 6, 3, 5, Key(test_seed()).child("best"));
  arma::mat b = in_double(softmax_of(logits_of(problem.Q(), problem.K())));
  arma::vec singular = arma::svd(b);
  // ||rounding of B||: its entries relatively, in Frobenius norm; the decomposition adds 10 n u ||B||.
  double error = softmax_error<T>(kTokens, 6, largest_logit(problem)) * arma::norm(b, "fro") +
                 20 * kTokens * unit<T>() * singular(0);
};

}  // namespace

TEST_CASE_TEMPLATE(
    "best-rank-d: has rank d and the errors of Eckart-Young, sigma_{d+1} and the root of the squares after d", T, float,
    double) {
  const Example<T> example;
  const BestRank<T> best(example.problem);
  // Singular values move by at most the norm of the perturbation (Weyl).
  CHECK(distance(best.singular_values(), example.singular) <= example.error);
  for (const arma::uword d : {1U, 2U, 7U, 23U, 24U}) {
    CAPTURE(d);
    const Approximation<T> approximation = best.approximate(d);
    const arma::mat b_d = arma::conv_to<arma::mat>::from(approximation.scores->dense());
    const arma::vec kept = arma::svd(b_d), lost = arma::svd(arma::mat(example.b - b_d));
    for (arma::uword i = d; i < kTokens; ++i) CHECK(kept(i) <= example.error);
    const double spectral = d < kTokens ? example.singular(d) : 0;
    const double frobenius = d < kTokens ? arma::norm(example.singular.tail(kTokens - d)) : 0;
    CHECK(std::abs(lost(0) - spectral) <= 2 * example.error);
    CHECK(std::abs(arma::norm(lost) - frobenius) <= 2 * std::sqrt(double{kTokens}) * example.error);
    CHECK(approximation.diagnostics.rank.value() == d);
  }
}

TEST_CASE("best-rank-d: errors are those of Eckart-Young down to the smallest singular values, by either way to them") {
  // sigma_{d+1} / sigma_1 from 0.02 to below 10^-4: eigenvectors of B B^T for the first d, the decomposition for the
  // rest.
  const Problem<double> problem = random_problem<double>(60, 2, 3, 1, Key(test_seed()).child("decay"));
  const arma::mat b = in_double(softmax_of(logits_of(problem.Q(), problem.K())));
  const arma::vec singular = arma::svd(b);
  REQUIRE(singular(1) > 0.02 * singular(0));
  REQUIRE(singular(20) < 1e-4 * singular(0));
  const BestRank<double> best(problem);
  const double error = softmax_error<double>(60, 2, largest_logit(problem)) * arma::norm(b, "fro") +
                       20 * 60 * unit<double>() * singular(0);
  for (arma::uword d = 1; d < 30; ++d) {
    CAPTURE(d);
    const arma::mat lost = b - best.approximate(d).scores->dense();
    // By eigenvectors: 10 u (sigma_1 / sigma_{d+1})^2 / 2 of it, 10^-9 where they are used.
    CHECK(std::abs(arma::norm(lost) - singular(d)) <= 2 * error + 1e-9 * singular(d));
  }
}

TEST_CASE_TEMPLATE("best-rank-d: the output is that of the projected scores, exact for d = n", T, float, double) {
  const Example<T> example;
  const BestRank<T> best(example.problem);
  const double value = static_cast<double>(frobenius(example.problem.V()));
  for (const arma::uword d : {1U, 5U, 24U}) {
    const Approximation<T> approximation = best.approximate(d);
    // B_d = B P with P the projector on the d right singular vectors, from the eigenvectors of B^T B.
    arma::vec eigenvalues;
    arma::mat vectors;
    arma::eig_sym(eigenvalues, vectors, arma::mat(example.b.t() * example.b));
    const arma::mat leading = vectors.tail_cols(d);
    // Singular subspaces turn by the error over the gap (Wedin), and carry sigma_1 with them.
    const double gap = d < kTokens ? example.singular(d - 1) - example.singular(d) : example.singular(0);
    const double bound = example.error * (1 + 4 * example.singular(0) * (example.singular(0) + 1) / std::pow(gap, 2));
    CHECK(distance(approximation.output, example.b * leading * leading.t() *
                                             arma::conv_to<arma::mat>::from(example.problem.V())) <= bound * value);
    CHECK(interface_gap(approximation, example.problem) <= 10 * kTokens * kTokens * unit<T>());
  }
  CHECK(distance(best.approximate(kTokens).output, example.b * Dense(example.problem.V())) <=
        2 * example.error * value);
}

TEST_CASE_TEMPLATE("best-rank-d: no other matrix of rank d is nearer to B", T, float, double) {
  const Example<T> example;
  const BestRank<T> best(example.problem);
  for (const arma::uword d : {2U, 9U}) {
    const arma::mat b_d = arma::conv_to<arma::mat>::from(best.approximate(d).scores->dense());
    const double mine = arma::norm(arma::mat(example.b - b_d), "fro");
    for (std::uint64_t t = 0; t < 20; ++t) {
      const arma::mat u = random_orthonormal(kTokens, d, Key(test_seed()).child(t));
      const arma::mat projected = u * (u.t() * example.b);
      CHECK(arma::norm(arma::mat(example.b - projected), "fro") >= mine - 5 * example.error);
    }
  }
}

TEST_CASE_TEMPLATE("best-rank-d: equal tokens have rank 1, which is exact", T, float, double) {
  const arma::Mat<T> x = arma::repmat(arma::Row<T>{T(1), T(2)}, 8, 1), v = random_matrix<T>(8, 2, Key(test_seed()));
  const BestRank<T> best(Problem<T>(x, x, v));
  CHECK(std::abs(static_cast<double>(best.singular_values()(0)) - 1) <= 20 * 8 * unit<T>());
  CHECK(static_cast<double>(best.singular_values()(1)) <= 20 * 8 * unit<T>());
  for (const arma::uword d : {1U, 8U}) {
    CHECK(distance(best.approximate(d).output, arma::repmat(arma::mean(v, 0), 8, 1)) <= 8 * 40 * 8 * unit<T>() * 7);
  }
}

TEST_CASE("best-rank-d: d of 0 and beyond n, and more tokens than a dense decomposition takes, are refused") {
  const BestRank<double> best(random_problem<double>(5, 3, 2, 1, Key(1)));
  CHECK(refusal([&] { best.approximate(6); }) == "best-rank-d: 1 <= d <= min(n_q, n_k), got d = 6, n_q = 5, n_k = 5");
  CHECK(contains(refusal([&] { best.approximate(0); }), "got d = 0"));
  const arma::mat many(4097, 1, arma::fill::zeros);
  CHECK(contains(refusal([&] { BestRank<double>(Problem<double>(many, many, many)); }), "n_q n_k <= 4096^2"));
}

TEST_CASE_TEMPLATE("best-rank-d: scores that underflow but for a few columns have a decomposition", T, float, double) {
  // Every key is opposed to every query, by norms of 100: weight is on the few least opposed keys.
  const Key draw_key = Key(test_seed()).child("opposed");
  for (std::uint64_t t = 0; t < 5; ++t) {
    const arma::Mat<T> q = arma::abs(random_matrix<T>(203, 16, draw_key.child(t).child("q"))),
                       k = -arma::abs(random_matrix<T>(203, 16, draw_key.child(t).child("k")));
    const Problem<T> problem(T(100) * arma::normalise(q, 2, 1), T(100) * arma::normalise(k, 2, 1),
                             random_matrix<T>(203, 2, draw_key.child(t).child("v")));
    const arma::mat b = in_double(softmax_of(logits_of(problem.Q(), problem.K())));
    arma::mat u, v;
    arma::vec values;
    REQUIRE(arma::svd(u, values, v, b, "std"));
    const BestRank<T> best(problem);
    const double error = softmax_error<T>(203, 16, largest_logit(problem)) * arma::norm(b, "fro") +
                         20 * 203 * unit<T>() * arma::norm(b, "fro");
    CHECK(distance(best.singular_values(), values) <= error);
    CHECK(distance(best.approximate(203).scores->dense(), b) <= 2 * error);
  }
}

TEST_CASE_TEMPLATE("best-rank-d: by iteration it is within one per cent of Eckart-Young, with no n x n matrix", T,
                   float, double) {
  const Problem<T> problem = random_problem<T>(120, 6, 3, 2, Key(test_seed()).child("iteration"));
  const arma::mat b = in_double(softmax_of(logits_of(problem.Q(), problem.K())));
  const arma::vec singular = arma::svd(b);
  for (const arma::uword d : {1U, 8U, 40U}) {
    CAPTURE(d);
    const Approximation<T> approximation =
        best_rank_iterative(problem, exact_scores(problem, Target::softmax), d, Key(test_seed()));
    const arma::mat b_d = arma::conv_to<arma::mat>::from(approximation.scores->dense());
    const double rounding = 1e3 * unit<T>() * singular(0);
    CHECK(arma::rank(b_d, 1e-5 * singular(0)) <= d);
    CHECK(arma::norm(b - b_d) <= 1.01 * singular(d) + rounding);
    CHECK(arma::norm(b - b_d) >= singular(d) - rounding);
    CHECK(approximation.diagnostics.residual <= 0.1 * singular(d) * std::sqrt(static_cast<double>(d)) + rounding);
  }
}

TEST_CASE("best-rank-d: the method goes over to the iteration where the dense decomposition ends") {
  const Problem<double> problem = random_problem<double>(BestRank<double>::kLargestN + 1, 2, 1, 2, Key(5));
  CHECK(contains(refusal([&] { BestRank<double> dense(problem); }), "n_q n_k <= 4096^2"));
  const PreparedMethod<double> method = prepare(find_method<double>("best-rank-d"), problem);
  const Approximation<double> approximation = method.approximate(2, Key(6));
  CHECK(identical(approximation.output, method.approximate(2, Key(7)).output));  // nothing is drawn
  const auto expected =
      best_rank_iterative(problem, exact_scores(problem, Target::softmax), 2, Key(0).child("best-rank-d"));
  CHECK(identical(approximation.output, expected.output));
  CHECK(approximation.diagnostics.residual == expected.diagnostics.residual);
  // Ten passes over n^2 scores and their transposes, not n^3.
  const auto n = static_cast<double>(problem.n());
  CHECK(method.flops(2) > 4 * 11 * n * n);
  CHECK(method.flops(2) < n * n * n);
}
