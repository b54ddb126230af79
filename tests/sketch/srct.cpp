#include <doctest/doctest.h>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/srct.hpp>

#include <cmath>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketch_distributions.hpp"
#include "support/sketches.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Sampler srct(arma::uword n, arma::uword d) {
  return sampler_of([n, d](const Key& key) { return SrctSketch(n, d, key); });
}

// The DCT-II by its formula, unreduced angles, in long double.
arma::mat cosines(arma::uword n) {
  const long double pi = std::acos(-1.0L), size = static_cast<long double>(n);
  arma::mat c(n, n);
  for (arma::uword k = 0; k < n; ++k) {
    for (arma::uword i = 0; i < n; ++i) {
      const long double angle = pi * static_cast<long double>((2 * i + 1) * k) / (2 * size);
      c(k, i) = static_cast<double>(std::sqrt((k == 0 ? 1 : 2) / size) * std::cos(angle));
    }
  }
  return c;
}

// n = 3, d = 2, the matrix written out: eight triples of signs, six ordered pairs of different rows.
MatrixDistribution law_of_three_by_two() {
  const double a = 1 / std::sqrt(3.0), b = 1 / std::sqrt(2.0), c = 1 / std::sqrt(6.0);
  const arma::mat rows = {{a, a, a}, {b, 0, -b}, {c, -2 * c, c}};
  MatrixDistribution distribution;
  const std::vector<std::pair<double, double>> sign = {{1, 0.5}, {-1, 0.5}};
  for_products(sign, 3, [&](const std::vector<double>& signs, double probability) {
    for (arma::uword first = 0; first < 3; ++first) {
      for (arma::uword second = 0; second < 3; ++second) {
        if (first == second) continue;
        const arma::mat s = arma::diagmat(arma::vec(signs)) * rows.rows(arma::uvec{first, second}).t();
        distribution.add(std::sqrt(1.5) * s, probability / 6);
      }
    }
  });
  return distribution;
}

enum class Rows { different, with_replacement };

// The definition with other draws; D absent in a mutant.
Sampler by_definition(arma::uword n, arma::uword d, Rows rows, bool signs) {
  return [=, c = cosines(n)](const Key& key) {
    const Key other = key.child("by definition");
    const arma::uvec r =
        rows == Rows::different ? sample_without_replacement(n, d, other) : sample_with_replacement(n, d, other);
    arma::mat s = std::sqrt(static_cast<double>(n) / static_cast<double>(d)) * c.rows(r).t();
    for (arma::uword i = 0; signs && i < n; ++i) {
      if ((other.child("signs").block(i)[0] & 1) != 0) s.row(i) *= -1;
    }
    return s;
  };
}

}  // namespace

TEST_CASE_TEMPLATE("SrctSketch: left, right and expand are products with dense(), for any n, primes included", T, float,
                   double) {
  // An FFT of length n is off by at most 7 u log2 n ||x|| (Higham 2002, Thm. 24.2, with exact twiddles to u); a DCT by
  // it has one rotation more before and after; a prime length takes three of about twice the length (Rader). With the
  // signs and scales: sqrt(n/d) 25 (log2 n + 3) u ||x||. Against S in double of the same draw.
  const Key key = Key(test_seed()).child("products");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1},   {2, 1},    {3, 3},    {8, 5},    {13, 13},
                                                       {100, 1}, {127, 40}, {1000, 9}, {4096, 3}, {4099, 3}};
  for (const auto& [n, d] : sizes) {
    CAPTURE_BINDING(n);
    const SrctSketch sketch(n, d, key.child(n));
    const Dense s = sketch.dense<double>();
    const auto size = static_cast<double>(n);
    const double factor = std::sqrt(size / static_cast<double>(d)) * 25 * (std::log2(size) + 3) * unit<T>();
    for (const arma::uword k : {1U, 3U}) {
      const arma::Mat<T> tall = random_matrix<T>(n, k, key.child("tall")),
                         wide = random_matrix<T>(k, n, key.child("wide")),
                         small = random_matrix<T>(d, k, key.child("small"));
      CHECK(distance(sketch.left(tall), transposed(s) * tall) <= factor * static_cast<double>(frobenius(tall)));
      CHECK(distance(sketch.right(wide), Dense(wide) * s) <= factor * static_cast<double>(frobenius(wide)));
      CHECK(distance(sketch.expand(small), s * small) <= factor * static_cast<double>(frobenius(small)));
    }
  }
}

TEST_CASE("SrctSketch: E[S S^T] = I in every entry, and mutants are rejected") {
  // (S S^T)_ik = D_i D_k n/d sum_j c_{r_j i} c_{r_j k}: of d draws without replacement among the n numbers n c_ki
  // c_kk', whose mean is [i = k], the mean has variance (population variance) (n - d) / (d (n - 1)). Since n c^2 <= 2
  // its distance from [i = k] is at most 2.
  constexpr arma::uword n = 13, d = 6;
  constexpr std::uint64_t trials = 20000;
  SecondMoment moment(n, 0, 2, 0, 2);
  const arma::mat c = cosines(n);
  for (arma::uword i = 0; i < n; ++i) {
    for (arma::uword k = 0; k < n; ++k) {
      const arma::vec population = n * c.col(i) % c.col(k);
      moment.variance(i, k) = arma::var(population, 1) * (n - d) / (d * (n - 1.0));
    }
  }
  CHECK(detectable(moment.variance.max(), 2, 91, trials) < 0.02);
  const auto accepts = [&](const Sampler& sampler) { return second_moment_is_identity(sampler, moment, trials); };
  const Sampler sampler = srct(n, d);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, d / std::sqrt(double{n}))));  // sqrt(d/n) on C sqrt(n)
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(double{d} / n))));  // no sqrt(n/d)
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(16.0 / 13))));      // n' in the place of n
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));         // |S_ij| with one sign a column
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) {            // FFTW's row 0, larger by sqrt(2)
    for (arma::uword j = 0; j < s.n_cols; ++j) {
      if (arma::range(arma::abs(s.col(j))) < 1e-9) s.col(j) *= std::sqrt(2.0);
    }
  })));
}

TEST_CASE("SrctSketch: the joint distribution of a 3 x 2 sketch, and mutants are rejected") {
  // Probabilities of at least 1/48: 416 draws, deviation 20; half of the distributions with a probability off by 33 %
  // are rejected (6.8 deviations).
  const MatrixDistribution distribution = law_of_three_by_two();
  const auto accepts = [&](const Sampler& sampler) { return distribution.is_distribution_of(sampler, 20000); };
  const Sampler sampler = srct(3, 2);
  CHECK(accepts(sampler));
  CHECK(accepts(by_definition(3, 2, Rows::different, true)));
  CHECK_FALSE(accepts(by_definition(3, 2, Rows::different, false)));  // cosines without the signs
  CHECK_FALSE(accepts(by_definition(3, 2, Rows::with_replacement, true)));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(2.0 / 3))));
  CHECK_FALSE(accepts(first_row_without_sign(sampler)));
  CHECK_FALSE(accepts(last_row_without_sign(sampler)));
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(seed_that_does_not_reach_the_draw(sampler)));
}

TEST_CASE("SrctSketch: every entry is fair over the keys, and mutants are rejected") {
  // n = 128: no angle (2i + 1) k pi / 256 is an odd multiple of pi / 2, so that no entry is zero. 2,000 keys.
  const Sampler sampler = srct(128, 4);
  CHECK(entries_follow(sampler, 1, 2000));
  CHECK_FALSE(entries_follow(first_row_without_sign(sampler), 1, 2000));
  CHECK_FALSE(entries_follow(last_row_without_sign(sampler), 1, 2000));
}

TEST_CASE("SrctSketch: keys of other names are independent, and mutants are rejected") {
  const MatrixDistribution distribution = law_of_three_by_two();
  const Sampler sampler = srct(3, 2);
  CHECK(distribution.holds_across_keys(sampler, 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_draw(sampler), 20000));
  CHECK_FALSE(distribution.holds_across_keys(by_definition(3, 2, Rows::different, false), 20000));  // one D for all
}

TEST_CASE("SrctSketch: S^T S = (n/d) I in every draw, and S S^T = I for d = n") {
  // n products of two entries of at most sqrt(2/d), each within 4 u.
  for (const arma::uword d : {1U, 7U, 37U}) {
    const arma::mat s = SrctSketch(37, d, Key(test_seed()).child(d)).dense<double>();
    const double bound = 37 * 2.0 / static_cast<double>(d) * 9 * unit<double>();
    CHECK(distance(transposed(s) * s, 37.0L / static_cast<long double>(d) * identity(d)) <= bound);
    if (d == 37) CHECK(distance(Dense(s) * transposed(s), identity(37)) <= bound);
  }
}

TEST_CASE_TEMPLATE("SrctSketch: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(SrctSketch(5000, 24, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("SrctSketch: wrong sizes are refused") {
  CHECK(refusal([] { SrctSketch(5, 6, Key(1)); }) == "SrctSketch: 1 <= d <= n < 2^31, got n = 5, d = 6");
  CHECK(contains(refusal([] { SrctSketch(0, 0, Key(1)); }), "got n = 0, d = 0"));
  CHECK(contains(refusal([] { SrctSketch(5, 0, Key(1)); }), "got n = 5, d = 0"));
  check_refusals(SrctSketch(5, 3, Key(1)));
}
