#include <doctest/doctest.h>
#include <cmath>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/leverage.hpp>
#include <limits>

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

// recursive_leverage_sample of M with a diagonal of ones, as its header says, with a dense inverse at every level.
class PlainRecursion {
 public:
  std::vector<arma::uword> landmarks;
  // The largest ratio of what rounding may do to what decides a comparison. Below 1 it decides none.
  long double doubt = 0;

  PlainRecursion(const arma::mat& m, arma::uword d, const Key& draw_key)
      : m_(m), d_(d), rank_(leverage_rank(d)), key_(draw_key) {
    for (const arma::uword i : sample_without_replacement(m.n_rows, m.n_rows, draw_key.child("order"))) {
      order_.push_back(i);
    }
    const Scores scores = scores_of(m.n_rows, sample_for(m.n_rows, 0));
    std::vector<std::pair<long double, arma::uword>> arrivals;
    for (arma::uword i = 0; i < m.n_rows; ++i) {
      const auto clock = static_cast<long double>(uniform_at(draw_key.child("final"), i));
      arrivals.emplace_back(std::log(-std::log(clock)) - std::log(std::min(1.0L, scores.of[i])), i);
    }
    std::sort(arrivals.begin(), arrivals.end());
    const long double logarithms = 200 * unit<double>();  // of sizes up to 40
    for (arma::uword a = 0; a < d; ++a) {
      landmarks.push_back(order_[arrivals[a].second]);
      if (a + 1 == m.n_rows) break;
      const auto relative = [&](arma::uword at) { return scores.rounding / scores.of[arrivals[at].second]; };
      compare(arrivals[a + 1].first - arrivals[a].first, relative(a) + relative(a + 1) + logarithms);
    }
  }

 private:
  struct Sample {
    std::vector<arma::uword> points;
    std::vector<long double> squared_weights;
    long double drift = 0;  // what rounding may have done to a squared weight, relatively
  };

  struct Scores {
    std::vector<long double> of;
    long double rounding = 0;
  };

  void compare(long double gap, long double rounding) { doubt = std::max(doubt, rounding / std::fabs(gap)); }

  // The weighted sample of the first half of `count` points, rounded up, from which the scores of all of them follow.
  // `level` is that of the `count` points.
  Sample sample_for(arma::uword count, std::uint64_t level) {
    if (count <= 2 * d_) {
      const arma::uword size = std::min(count, d_);
      return {{order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(size)},
              std::vector<long double>(size, 1.0L)};
    }
    const arma::uword half = count / 2 + count % 2;
    const Sample before = sample_for(half, level + 1);
    const Scores scores = scores_of(half, before);
    const long double oversampling = std::max(1.0L, std::log(static_cast<long double>(d_)));
    Sample drawn;
    for (arma::uword i = 0; i < half; ++i) {
      const long double wanted = oversampling * scores.of[i], probability = std::min(1.0L, wanted);
      const auto uniform = static_cast<long double>(uniform_at(key_.child("level").child(level + 1), i));
      compare(uniform - wanted, oversampling * scores.rounding);
      if (uniform > probability) continue;
      drawn.points.push_back(order_[i]);
      drawn.squared_weights.push_back(1 / probability);
      drawn.drift = std::max(drawn.drift, oversampling * scores.rounding / probability);
    }
    return drawn.points.empty() ? before : drawn;
  }

  // (M_ii - k_i^T (W M_SS W + ridge I)^-1 k_i) / ridge with k_i = W M_Si, where W are the weights. (The library has the
  // ridge over the squared weights, a Cholesky factor and the smallest eigenvalues.) Rounding: the inverse of what it
  // factorises has a norm of at most w^2 / ridge, w the largest weight, and its trace is at most m + m ridge, as the
  // diagonal of M and the squared weights are at least 1. A relative error of the squared weights changes a score by
  // three times as much at most, one of the eigenvalues by as much as it changes the ridge.
  Scores scores_of(arma::uword count, const Sample& sample) const {
    const arma::uword size = sample.points.size();
    Dense core(size, size);
    long double trace = 0, largest_weight = 0;
    for (arma::uword a = 0; a < size; ++a) {
      for (arma::uword b = 0; b < size; ++b) {
        core(a, b) = std::sqrt(sample.squared_weights[a] * sample.squared_weights[b]) *
                     static_cast<long double>(m_(sample.points[a], sample.points[b]));
      }
      trace += core(a, a);
      largest_weight = std::max(largest_weight, sample.squared_weights[a]);
    }
    const arma::vec values = arma::eig_sym(in_double(core));
    long double ridge = trace;
    for (arma::uword k = 0; k < std::min(rank_, size); ++k) ridge -= static_cast<long double>(values(size - 1 - k));
    ridge /= static_cast<long double>(rank_);
    // A sample of no more points than the rank leaves nothing: the ridge is rounding, of either sign.
    if (ridge <= static_cast<long double>(size * size * unit<double>()) * trace)
      return {std::vector<long double>(count, 0.5L), std::numeric_limits<long double>::infinity()};
    const Dense inverse = inverted(core + ridge * identity(size));
    Scores scores;
    long double largest = 0;
    for (arma::uword i = 0; i < count; ++i) {
      Dense column(size, 1);
      for (arma::uword a = 0; a < size; ++a) {
        column(a, 0) = std::sqrt(sample.squared_weights[a]) * static_cast<long double>(m_(sample.points[a], order_[i]));
      }
      const Dense explained = transposed(column) * inverse * column;
      scores.of.push_back((1 - explained(0, 0)) / ridge);
      largest = std::max(largest, scores.of.back());
    }
    const auto m = static_cast<long double>(size);
    scores.rounding = unit<double>() * (3 * (m + 1) * (m + ridge) * largest_weight / ridge + m + 2) / ridge +
                      largest * (3 * sample.drift + 2 * m * m * unit<double>() * trace / ridge);
    return scores;
  }

  const arma::mat& m_;
  arma::uword d_, rank_;
  Key key_;
  std::vector<arma::uword> order_;
};

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

TEST_CASE("recursive_leverage_sample: the landmarks of the recursion with dense inverses, index by index") {
  const arma::mat spread = random_matrix(150, 3, Key(26));
  arma::mat cluster = 0.3 * random_matrix(150, 3, Key(27));
  for (arma::uword i = 0; i < 150; i += 15) cluster.row(i) *= 20;  // ten far from it
  int left_out = 0;
  for (const arma::mat& x : {spread, cluster}) {
    const arma::mat m = gaussian_kernel_matrix<double>(x).dense();
    const auto kernel = stored_kernel_matrix<double>(m);  // the same entries in every block
    for (const arma::uword d : {30, 60, 120}) {           // two levels below the whole, one and none
      for (std::uint64_t t = 0; t < 10; ++t) {
        const Key draw_key = Key(test_seed()).child("plain").child(d).child(t);
        const PlainRecursion plain(m, d, draw_key);
        if (plain.doubt >= 1) {
          ++left_out;
          continue;
        }
        CHECK(identical(recursive_leverage_sample(kernel, d, draw_key), arma::uvec(plain.landmarks)));
      }
    }
  }
  // The doubt of a draw goes as one over the smallest gap of uniform numbers, or is infinite. It reached 1 in five of
  // 42,000 draws, so with probability 4e-4 at most (99.9 %), and five of the 60 draws with 5.5e6 (4e-4)^5 = 5.6e-11.
  CHECK(left_out <= 4);
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
  // Of four at most, the mean is 3.2 a draw: 3.201 in 100,000 draws, with a standard error of 0.003. By Hoeffding's
  // inequality, P(found <= 450) <= exp(-2 200 (3.19 - 2.25)^2 / 4^2) = 3e-10. Uniform sampling finds 150.
  CHECK(found > 450);
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
  // What is missed is the rare points that were not drawn, up to 0.2. In 3000 draws the recursion had 10 to 12 of the
  // twelve. Uniform sampling has 10 or more with probability 2.8e-5 (hypergeometric), so a right sampler loses three
  // of 40 with probability 9880 (2.8e-5)^3 = 2e-10. One as good as uniform sampling wins 38 or more with 7.5e-10.
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
