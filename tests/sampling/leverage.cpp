#include <doctest/doctest.h>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/leverage.hpp>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// Sixty points in a tight cluster and four far from it and from each other: the four have leverage near 1.
arma::mat cluster_and_outliers() {
  arma::mat x = 0.05 * random_matrix(64, 2, Key(21));
  for (arma::uword i = 60; i < 64; ++i) x.row(i) += 20 * arma::rowvec({static_cast<double>(i) - 55.0, 3.0});
  return x;
}

// M_J M_JJ^+ M_J^T by plain dense algebra.
arma::mat nystrom(const arma::mat& m, const arma::uvec& j) {
  return m.cols(j) * arma::pinv(arma::mat(m(j, j)), 1e-12) * m.rows(j);
}

}  // namespace

TEST_CASE_TEMPLATE("RidgeLeverage: scores are the diagonal of M (M + lambda I)^-1 and sum to d_stat", T, float,
                   double) {
  const arma::mat x = random_matrix(40, 3, Key(20));
  const auto kernel = gaussian_kernel_matrix<T>(arma::conv_to<arma::Mat<T>>::from(x));
  const RidgeLeverage<T> leverage(kernel);
  const Dense m = kernel.dense();
  for (const double lambda : {1e-2, 0.3, 10.0}) {
    const Dense reference = m * inverted(m + static_cast<long double>(lambda) * identity(40));
    const arma::Col<T> scores = leverage.scores(static_cast<T>(lambda));
    // Eigenvalues are off by n u ||M||, which moves a score by at most that over lambda; ||M|| <= 40.
    const double bound = 10 * 40 * unit<T>() * 40 / lambda + 40 * unit<T>();
    long double sum = 0;
    for (arma::uword i = 0; i < 40; ++i) {
      CHECK(std::abs(static_cast<double>(scores(i)) - static_cast<double>(reference(i, i))) <= bound);
      sum += reference(i, i);
    }
    CHECK(std::abs(static_cast<double>(leverage.statistical_dimension(static_cast<T>(lambda))) -
                   static_cast<double>(sum)) <= 40 * bound);
  }
}

TEST_CASE("RidgeLeverage: at ridge_for(k) the statistical dimension is at most 2 k, and it grows as lambda shrinks") {
  const RidgeLeverage<double> leverage(gaussian_kernel_matrix<double>(random_matrix(80, 3, Key(22))));
  double previous = 0;
  for (const arma::uword k : {1, 2, 5, 10, 20, 40, 80}) {
    const double dimension = leverage.statistical_dimension(leverage.ridge_for(k));
    CHECK(dimension <= 2.0 * static_cast<double>(k));
    CHECK(dimension > previous);
    previous = dimension;
  }
}

TEST_CASE("leverage_rank: the whole part of d / (4 max(1, ln d)), and 1 at least") {
  // By hand: 10 / 9.21, 64 / 16.64, 128 / 19.41, 256 / 22.18, 1000 / 27.63, 10^6 / 55.26.
  const std::pair<arma::uword, arma::uword> known[] = {{0, 1},  {1, 1},   {2, 1},    {4, 1},     {10, 1},
                                                       {64, 3}, {128, 6}, {256, 11}, {1000, 36}, {1000000, 18095}};
  for (const auto& [d, k] : known) {
    CAPTURE_BINDING(d);
    CHECK(leverage_rank(d) == k);
  }
}

TEST_CASE("RidgeLeverage: zero and rank-deficient matrices, and refusals") {
  const RidgeLeverage<double> zero(stored_kernel_matrix<double>(arma::mat(5, 5, arma::fill::zeros)));
  CHECK(zero.scores(1.0).is_zero());
  CHECK(zero.ridge_for(3) > 0);
  const RidgeLeverage<double> ones(stored_kernel_matrix<double>(arma::mat(8, 8, arma::fill::ones)));
  CHECK(ones.scores(1e-6).max() <= 0.125 + 1e-12);  // eight copies of one point share a score of 1
  CHECK(contains(refusal([&] { ones.scores(0); }), "lambda > 0"));
  CHECK(contains(refusal([&] { ones.ridge_for(9); }), "k = 9"));
  const KernelMatrix<double> large{9000, arma::vec(9000, arma::fill::ones), nullptr, [] { return 1.0; }};
  CHECK(contains(refusal([&] { RidgeLeverage<double>{large}; }), "8192"));
}

TEST_CASE("recursive_leverage_sample: points far from the others are drawn far more often than by uniform sampling") {
  const auto kernel = gaussian_kernel_matrix<double>(cluster_and_outliers());
  arma::uword found = 0;
  for (std::uint64_t t = 0; t < 200; ++t) {
    const arma::uvec j = recursive_leverage_sample(kernel, 12, Key(test_seed()).child("outliers").child(t));
    REQUIRE(j.n_elem == 12);
    REQUIRE(arma::unique(j).eval().n_elem == 12);
    REQUIRE(j.max() < 64);
    found += arma::accu(j >= 60);
  }
  // Uniform sampling without replacement finds 12 * 4 / 64 a draw, 150 in all; Chernoff's bound, which holds for these
  // negatively associated indicators: P(found >= 240) <= exp(-150 (1.6 ln 1.6 - 0.6)) = 1.3e-10.
  CHECK(found > 240);
}

TEST_CASE("recursive_leverage_sample: the Nystrom error on clustered points is below that of uniform sampling") {
  arma::mat x = 0.1 * random_matrix(400, 4, Key(23));
  for (arma::uword i = 388; i < 400; ++i) x.row(i) *= 100;  // twelve points that matter and are rare
  const auto kernel = gaussian_kernel_matrix<double>(x);
  const arma::mat m = kernel.dense();
  int wins = 0;
  constexpr int trials = 40;
  for (std::uint64_t t = 0; t < trials; ++t) {
    const Key draw_key = Key(test_seed()).child("error").child(t);
    const arma::uvec recursive = recursive_leverage_sample(kernel, 100, draw_key);
    const arma::uvec uniform = sample_without_replacement(400, 100, draw_key.child("uniform"));
    const auto missed = [&](const arma::uvec& j) { return arma::trace(m) - arma::trace(nystrom(m, j)); };
    wins += missed(recursive) < missed(uniform) ? 1 : 0;
  }
  // If they were as good as each other, wins would be Binomial(40, 1/2): P(wins >= 38) = 7.5e-10.
  CHECK(wins >= 38);
}

TEST_CASE(
    "recursive_leverage_sample: d = n takes all, duplicates and zero matrices are no error, threads do not matter") {
  const auto kernel = gaussian_kernel_matrix<double>(random_matrix(50, 3, Key(24)));
  CHECK(arma::unique(recursive_leverage_sample(kernel, 50, Key(1))).eval().n_elem == 50);
  CHECK(recursive_leverage_sample(kernel, 1, Key(1)).n_elem == 1);
  const auto copies = gaussian_kernel_matrix<double>(arma::mat(70, 2, arma::fill::ones));
  CHECK(recursive_leverage_sample(copies, 9, Key(2)).n_elem == 9);
  const auto zero = stored_kernel_matrix<double>(arma::mat(30, 30, arma::fill::zeros));
  CHECK(recursive_leverage_sample(zero, 4, Key(3)).n_elem == 4);
  const auto with = [&](int threads) {
    const ThreadCount scope(threads);
    return recursive_leverage_sample(gaussian_kernel_matrix<float>(random_matrix<float>(300, 3, Key(25))), 20, Key(4));
  };
  CHECK(identical(arma::Mat<arma::uword>(with(1)), arma::Mat<arma::uword>(with(3))));
  CHECK(contains(refusal([&] { recursive_leverage_sample(kernel, 51, Key(1)); }), "d = 51"));
}
