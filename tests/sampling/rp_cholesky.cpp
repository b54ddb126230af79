#include <doctest/doctest.h>
#include <croquis/sampling/rp_cholesky.hpp>

#include <Random123/uniform.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr std::uint64_t kTrials = 20000;

using Draw = std::function<arma::uvec(const arma::mat&, arma::uword, const Key&)>;

// M - M(:,j) M(j,:) / M_jj, in plain loops.
Dense eliminated(const Dense& m, arma::uword j) {
  Dense r = m;
  for (arma::uword a = 0; a < m.rows; ++a) {
    for (arma::uword b = 0; b < m.rows; ++b) r(a, b) = m(a, b) - m(a, j) * m(j, b) / m(j, j);
  }
  for (arma::uword a = 0; a < m.rows; ++a) r(a, j) = r(j, a) = 0;
  return r;
}

// Probabilities of all ordered pivot triples of one-by-one randomly pivoted Cholesky, cell (i, j, k) at (i n + j) n +
// k.
std::vector<double> triple_probabilities(const Dense& m) {
  const arma::uword n = m.rows;
  const auto trace = [&](const Dense& a) {
    long double sum = 0;
    for (arma::uword i = 0; i < n; ++i) sum += a(i, i);
    return sum;
  };
  std::vector<double> probabilities(n * n * n);
  for (arma::uword i = 0; i < n; ++i) {
    const Dense first = eliminated(m, i);
    for (arma::uword j = 0; j < n; ++j) {
      if (j == i) continue;
      const Dense second = eliminated(first, j);
      for (arma::uword k = 0; k < n; ++k) {
        if (k == i || k == j) continue;
        const long double p = m(i, i) / trace(m) * first(j, j) / trace(first) * second(k, k) / trace(second);
        probabilities[(i * n + j) * n + k] = static_cast<double>(p);
      }
    }
  }
  return probabilities;
}

bool follows_the_distribution(const Draw& draw, const arma::mat& m) {
  const std::vector<double> probabilities = triple_probabilities(m);
  std::vector<double> counts(probabilities.size());
  const Key root = Key(test_seed()).child("rp-cholesky law");
  for (std::uint64_t t = 0; t < kTrials; ++t) {
    const arma::uvec p = draw(m, 3, root.child(t));
    if (p.n_elem != 3) return false;
    ++counts[(p(0) * m.n_rows + p(1)) * m.n_rows + p(2)];
  }
  return counts_follow(counts, probabilities, kFailure);
}

}  // namespace

TEST_CASE(
    "rp_cholesky: ordered pivots follow the distribution of one-by-one pivoting, in blocks too, and mutants are "
    "rejected") {
  // Strongly correlated points 0, 1, 2 and an uneven diagonal: after pivot 0 the residuals of 1 and 2 nearly vanish, so
  // proposals from the diagonal at the block's start are wrong by factors. 60 cells; those of the mutants are off by
  // more than ten deviations.
  const arma::vec scale = {1.5, 1.2, 1.0, 0.8, 0.5};
  arma::mat m = arma::diagmat(scale) *
                arma::mat({{1.0, 0.9, 0.8, 0.1, 0.0},
                           {0.9, 1.0, 0.9, 0.1, 0.1},
                           {0.8, 0.9, 1.0, 0.2, 0.0},
                           {0.1, 0.1, 0.2, 1.0, 0.3},
                           {0.0, 0.1, 0.0, 0.3, 1.0}}) *
                arma::diagmat(scale);
  CHECK(follows_the_distribution([](const arma::mat& a, arma::uword d,
                                    const Key& s) { return rp_cholesky(stored_kernel_matrix<double>(a), d, s).pivots; },
                                 m));
  // No rejection: different pivots in proportion to the first diagonal.
  CHECK_FALSE(follows_the_distribution(
      [](const arma::mat& a, arma::uword d, const Key& s) {
        std::vector<arma::uword> pivots;
        const arma::vec cumulative = arma::cumsum(a.diag());
        for (std::uint64_t k = 0; pivots.size() < d; ++k) {
          const double u = r123::u01<double>(s.block(k)[0]) * cumulative.back();
          arma::uword i = 0;
          while (cumulative(i) < u) ++i;
          if (std::find(pivots.begin(), pivots.end(), i) == pivots.end()) pivots.push_back(i);
        }
        return arma::uvec(pivots);
      },
      m));
  // Greedy: the largest residual, which is deterministic.
  CHECK_FALSE(follows_the_distribution(
      [](const arma::mat& a, arma::uword d, const Key&) {
        Dense r = a;
        arma::uvec pivots(d);
        for (arma::uword t = 0; t < d; ++t) {
          for (arma::uword i = 1; i < a.n_rows; ++i) {
            if (r(i, i) > r(pivots(t), pivots(t))) pivots(t) = i;
          }
          r = eliminated(r, pivots(t));
        }
        return pivots;
      },
      m));
}

TEST_CASE("rp_cholesky: every block of proposals has numbers of its own") {
  // For the identity matrix pivots are a uniform sample without replacement. Were the second 32 drawn by the numbers of
  // the first, among 32 points fewer, pivot 32 + k would be at most 32 away from pivot k. Of independent ones that has
  // a probability below 65 / 1968 = 0.033, and 16 times of 32 below C(32, 16) 0.033^16 = 2e-15.
  constexpr arma::uword n = 2000;
  const KernelMatrix<double> identity{n, arma::vec(n, arma::fill::ones),
                                      [](const arma::uvec& rows, const arma::uvec& cols) -> arma::mat {
                                        arma::mat block(rows.n_elem, cols.n_elem);
                                        for (arma::uword j = 0; j < cols.n_elem; ++j) {
                                          for (arma::uword i = 0; i < rows.n_elem; ++i)
                                            block(i, j) = rows(i) == cols(j) ? 1 : 0;
                                        }
                                        return block;
                                      },
                                      [] { return 1.0; }};
  const arma::uvec pivots = rp_cholesky(identity, 64, Key(test_seed()).child("blocks")).pivots;
  REQUIRE(pivots.n_elem == 64);
  int near = 0;
  for (arma::uword k = 0; k < 32; ++k) {
    near += std::abs(static_cast<double>(pivots(k)) - static_cast<double>(pivots(k + 32))) <= 32 ? 1 : 0;
  }
  CHECK(near < 16);
}

TEST_CASE_TEMPLATE("rp_cholesky: F F^T is the Nystrom approximation at the pivots and the residual its error", T, float,
                   double) {
  const arma::mat x = random_matrix(150, 4, Key(3).child("points"));
  const auto kernel = gaussian_kernel_matrix<T>(arma::conv_to<arma::Mat<T>>::from(x));
  const Dense m = kernel.dense();
  for (const arma::uword d : {1, 31, 32, 33, 70}) {
    const auto result = rp_cholesky(kernel, d, Key(4).child(d));
    REQUIRE(result.pivots.n_elem == d);
    REQUIRE(arma::unique(result.pivots).eval().n_elem == d);
    // M(:,J) M(J,J)^-1 M(J,:) by elimination one pivot at a time. Rounding grows with the inverse of the smallest
    // pivot's residual r: an entry of F is off by a few u / sqrt(r), so products by d u / r.
    Dense r = m;
    double smallest = 1;
    for (const arma::uword j : result.pivots) {
      smallest = std::min(smallest, static_cast<double>(r(j, j)));
      r = eliminated(r, j);
    }
    const Dense f = result.factor;
    const double bound = 8 * static_cast<double>(d) * unit<T>() * (1 + x.n_cols) / smallest;
    CHECK(distance(f * transposed(f), m - r) <= bound);
    for (arma::uword i = 0; i < m.rows; ++i) {
      CHECK(std::abs(static_cast<double>(result.residual(i)) - static_cast<double>(r(i, i))) <= bound);
    }
  }
}

TEST_CASE("rp_cholesky: a matrix of rank r gives r pivots, a zero matrix none, duplicates are taken once") {
  const arma::mat low = with_eigenvalues(60, arma::vec({5, 3, 2, 1, 0.5}), Key(5));
  const auto result = rp_cholesky(stored_kernel_matrix<double>(low + 0.0), 30, Key(6));
  CHECK(result.pivots.n_elem == 5);
  // Exact at the rank, up to the stop: the trace left is at most d u trace(M), and the error is below its trace.
  CHECK(arma::norm(low - result.factor * result.factor.t()) <= 30 * 2.3e-16 * arma::trace(low) + 1e-13);
  CHECK(rp_cholesky(stored_kernel_matrix<double>(arma::mat(9, 9, arma::fill::zeros)), 4, Key(7)).pivots.is_empty());
  const arma::mat points = arma::repmat(random_matrix(6, 3, Key(8)), 10, 1);
  CHECK(rp_cholesky(gaussian_kernel_matrix<double>(points), 40, Key(9)).pivots.n_elem == 6);
}

TEST_CASE("rp_cholesky: the same pivots and bits for any number of threads; n = 1; refusals") {
  const auto kernel = gaussian_kernel_matrix<double>(random_matrix(90, 3, Key(10)));
  const auto with = [&](int threads) {
    const ThreadCount scope(threads);
    return rp_cholesky(kernel, 40, Key(11));
  };
  const auto one = with(1), four = with(4);
  CHECK(identical(arma::Mat<arma::uword>(one.pivots), arma::Mat<arma::uword>(four.pivots)));
  CHECK(identical(one.factor, four.factor));
  CHECK(rp_cholesky(stored_kernel_matrix<double>(arma::mat(1, 1, arma::fill::ones)), 1, Key(1)).pivots(0) == 0);
  CHECK(contains(refusal([&] { rp_cholesky(kernel, 91, Key(1)); }), "d = 91"));
  CHECK(contains(refusal([&] { rp_cholesky(kernel, 0, Key(1)); }), "1 <= d <= n"));
}

TEST_CASE("rp_cholesky: weights are those of the matrix between their roots, of any size") {
  const arma::uword n = 30, d = 8;
  const arma::mat x = random_matrix(n, 3, Key(test_seed()).child("points"));
  const KernelMatrix<double> kernel = gaussian_kernel_matrix(x);
  const arma::vec log_weights = 2 * random_matrix(n, 1, Key(test_seed()).child("weights"));
  const arma::vec roots = arma::exp(log_weights / 2);
  const Key draw_key = Key(test_seed()).child("weighted");
  const PivotedCholesky<double> found = rp_cholesky(kernel, d, draw_key, log_weights);
  const PivotedCholesky<double> expected = rp_cholesky(
      stored_kernel_matrix<double>(arma::diagmat(roots) * kernel.dense() * arma::diagmat(roots)), d, draw_key);
  CHECK(arma::all(found.pivots == expected.pivots));
  CHECK(distance(arma::diagmat(roots) * found.factor, expected.factor) <= 1e-9 * roots.max());
  // Their size does not matter, and points of weight e^-3000 have their turn.
  CHECK(arma::all(rp_cholesky<double>(kernel, d, draw_key, log_weights - 5000).pivots == found.pivots));
  // -infinity is a weight of zero, and NaN and +infinity are none.
  constexpr double inf = std::numeric_limits<double>::infinity();
  arma::vec without = log_weights;
  without.head(n - 2).fill(-inf);
  const arma::uvec two = arma::sort(rp_cholesky(kernel, d, draw_key, without).pivots);
  CHECK(arma::all(two == arma::uvec{n - 2, n - 1}));
  for (const double wrong : {std::nan(""), inf}) {
    without(3) = wrong;
    CHECK(contains(refusal([&] { rp_cholesky(kernel, d, draw_key, without); }), "rp_cholesky: logarithms of weights"));
  }
  CHECK(contains(refusal([&] { rp_cholesky<double>(kernel, d, draw_key, log_weights.head(4)); }), "weights = 4"));
  arma::vec steep = arma::linspace(0, -3000, n);
  const arma::uvec pivots = rp_cholesky(kernel, d, draw_key, steep).pivots;
  CHECK(arma::all(pivots == arma::regspace<arma::uvec>(0, d - 1)));  // others have a chance of e^-100
}

TEST_CASE_TEMPLATE("rp_cholesky: a repeated point is one pivot of a weighted draw, however light", T, float, double) {
  arma::Mat<T> x = random_matrix<T>(40, 3, Key(test_seed()).child("repeated"));
  for (arma::uword i = 10; i < 40; ++i) x.row(i) = x.row(i % 10);
  arma::Col<T> log_weights(40, arma::fill::zeros);
  log_weights.head(10) -= T(50);
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const PivotedCholesky<T> found = rp_cholesky(gaussian_kernel_matrix(x), 30, Key(draw), log_weights);
    CHECK(found.pivots.n_elem == 10);
    CHECK(arma::unique(arma::uvec(found.pivots - 10 * (found.pivots / 10))).eval().n_elem == 10);
  }
  CHECK(contains(refusal([&] { rp_cholesky(gaussian_kernel_matrix(x), 3, Key(1), arma::Col<T>(7)); }), "a weight for"));
}
