#include <croquis/attention/hyperattention.hpp>

#include "support/approximations.hpp"
#include "support/hyperattention.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;
using Values = HyperattentionOptions::Values;

namespace {

const HyperattentionOptions kShared = {Values::shared, BucketOrder::transposed, 7, true};
const HyperattentionOptions kAll[] = {HyperattentionOptions{}, HyperattentionOptions::code(), kShared};
const HyperattentionOptions kUnbiased[] = {HyperattentionOptions{}, kShared};

template <typename T>
Dense expected_hyper_scores(const Problem<T>& problem, arma::uword d, const HyperattentionOptions& options,
                            const Key& draw_key) {
  return HyperReference(problem, d, options, draw_key, draw_key.child("keys"), draw_key.child("values")).scores();
}

}  // namespace

TEST_CASE_TEMPLATE("hyperattention: every entry is that of the block and of the sampled keys", T, float, double) {
  const Key draw_key = Key(test_seed()).child("entries");
  for (const TokenAlignment shape : {TokenAlignment{33, 33}, {7, 40}, {40, 9}}) {
    const Problem<T> problem = random_rectangle<T>(shape.n_q, shape.n_k, 6, 3, 3, draw_key);
    for (const HyperattentionOptions& options : kAll) {
      for (const arma::uword d : {3U, 4U, 8U}) {
        CAPTURE(d);
        const Approximation<T> approximation = hyperattention(problem, d, draw_key.child(d), options);
        const Dense expected = expected_hyper_scores(problem, d, options, draw_key.child(d));
        const double size = std::max(1.0, static_cast<double>(largest_entry_of(expected)));
        const double entry = size * (2 * hyper_entry_error(problem) + 40 * 8 * unit<T>());
        CHECK(distance(approximation.scores->dense(), expected) <= entry);
        CHECK(distance(approximation.output, expected * problem.V()) <=
              40 * entry * static_cast<double>(largest_entry_of(problem.V())));
        CHECK(interface_gap(approximation, problem) <= 4 * 40 * unit<T>());
        if (options.values == Values::shared) CHECK(row_sum_gap(approximation) <= 2 * 40 * unit<T>());
      }
    }
  }
}

TEST_CASE("hyperattention: row sums and the sums of the output are unbiased, and wrong weights are seen") {
  const ThreadCount one(1);  // many small problems
  constexpr arma::uword n = 8;
  constexpr std::uint64_t draws = 20000;
  const Problem<double> problem = random_problem<double>(n, 3, 2, 0.8, Key(6), 1);
  Dense a = logits_of(problem.Q(), problem.K());
  for (long double& e : a.entries) e = std::exp(e);
  const Dense exact = a * problem.V();
  const double largest = static_cast<double>(largest_entry_of(a));
  double value = 0, total = 0;  // the largest |V_l| / |V_l|^2 of an entry, and ||V||_F^2
  for (arma::uword j = 0; j < n; ++j) {
    const double square = arma::accu(arma::square(problem.V().row(j)));
    value = std::max(value, arma::abs(problem.V().row(j)).max() / square);
    total += square;
  }
  for (const HyperattentionOptions& options : kUnbiased) {
    const bool shared = options.values == Values::shared;
    const arma::uword d = shared ? 4 : 6;
    const double m = shared ? 2 : 1, m_v = 2;
    arma::vec sums(n, arma::fill::zeros);
    arma::mat outputs(n, 2, arma::fill::zeros);
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const auto approximation = hyperattention(problem, d, Key(test_seed()).child("unbiased").child(draw), options);
      const arma::vec found = approximation.denominators->values % arma::exp(approximation.denominators->log_scale);
      sums += found / double(draws);
      outputs += arma::diagmat(found) * approximation.output / double(draws);
    }
    // Given its hash, a sum is that of the block and the mean of m independent terms of at most n max a; over all draws
    // of m N such terms, Hoeffding: off by more than t with probability 2 exp(-2 m N t^2 / range^2), 1e-9 over all.
    const auto allowed = [&](double range, double terms) {
      return range * std::sqrt(std::log(2 * 2 * 3 * double(n) / 1e-9) / (2 * terms * double(draws)));
    };
    const double t = allowed(double(n) * largest, m);
    CHECK(t < 0.5);  // keys of the block that were counted twice would be b of them, at least 2 or 3 times 0.6 too much
    for (arma::uword i = 0; i < n; ++i) {
      double sum = 0;
      for (arma::uword j = 0; j < n; ++j) sum += static_cast<double>(a(i, j));
      CHECK(std::fabs(sums(i) - sum) <= t);
    }
    // Terms of the output are in an interval of twice their largest size.
    const double range = shared ? 2 * double(n) * largest * arma::abs(problem.V()).max() : 2 * largest * value * total;
    CHECK(distance(outputs, exact) <= allowed(range, m_v));
    CHECK(allowed(range, m_v) < 0.3 * static_cast<double>(largest_entry_of(exact)));
  }
}

TEST_CASE_TEMPLATE("hyperattention: rows of ones and padded problems, exact for d = n", T, float, double) {
  // The authors' code fills the last block with zero keys, which then have weight exp(0).
  const Problem<T> whole = random_problem<T>(50, 4, 3, 3, Key(test_seed()).child("padded"));
  const Problem<T> padded(whole.Q(), whole.K(), whole.V(), 37),
      shorter(whole.Q().head_rows(37), whole.K().head_rows(37), whole.V().head_rows(37));
  const Problem<T> ones(shorter.Q(), shorter.K(), arma::Mat<T>(37, 3, arma::fill::ones));
  for (const HyperattentionOptions& options : kAll) {
    CHECK(identical(hyperattention(padded, 10, Key(1), options).output,
                    hyperattention(shorter, 10, Key(1), options).output));
    if (options.values == Values::shared) {
      CHECK(distance(hyperattention(ones, 10, Key(1), options).output, ones.V()) <= 100 * unit<T>());
    }
    check_scores(hyperattention(shorter, 37, Key(1), options), shorter,
                 scores_of(shorter.Q(), shorter.K(), Target::softmax), entry_error(shorter));
  }
}

TEST_CASE("hyperattention: alpha is the largest column, kappa the ratio of row sums outside the blocks") {
  const Problem<double> problem = random_rectangle<double>(20, 23, 4, 2, 2, Key(test_seed()).child("condition"));
  const Dense b = scores_of(problem.Q(), problem.K(), Target::softmax);
  for (const HyperattentionOptions& options : kAll) {
    const SamplingCondition found = hyperattention_condition(problem, 10, Key(3), options);
    double alpha = 0, largest = 0, smallest = 1e300;
    for (arma::uword j = 0; j < 23; ++j) {
      long double squares = 0;
      for (arma::uword i = 0; i < 20; ++i) squares += b(i, j) * b(i, j);
      alpha = std::max(alpha, static_cast<double>(23 * squares));
    }
    const Dense logits = logits_of(problem.Q(), problem.K());
    const HashBlocks blocks = hash_blocks_of(problem, 5, options, Key(3));
    for (arma::uword i = 0; i < 20; ++i) {
      double sum = 0;
      for (arma::uword j = 0; j < 23; ++j) {
        if (blocks.of_query[i] != blocks.of_key[j]) sum += static_cast<double>(std::exp(logits(i, j)));
      }
      largest = std::max(largest, sum);
      smallest = std::min(smallest, sum);
    }
    CHECK(found.alpha == doctest::Approx(alpha).epsilon(1e-10));
    CHECK(found.kappa == doctest::Approx(largest / smallest).epsilon(1e-10));
  }
  CHECK(hyperattention_condition(problem, 23, Key(3), {Values::shared, BucketOrder::gray, 3}).kappa > 1);
}

TEST_CASE_TEMPLATE("hyperattention: V = 0 gives 0, large norms are safe, too few keys are refused", T, float, double) {
  const Problem<T> far = random_problem<T>(30, 4, 2, 100, Key(test_seed()).child("far"));
  const Problem<T> none(far.Q() / T(100), far.K() / T(100), arma::Mat<T>(30, 2, arma::fill::zeros));
  for (const HyperattentionOptions& options : kAll) {
    CHECK(hyperattention(none, 8, Key(1), options).output.is_zero());
    try {
      const arma::Mat<T> output = hyperattention(far, 8, Key(2), options).output;
      CHECK(output.is_finite());
    } catch (const std::runtime_error& broken) {
      CHECK(contains(broken.what(), "hyperattention: "));
    }
  }
  CHECK(refusal([&] { hyperattention(far, 31, Key(1)); }) == "hyperattention: 1 <= d <= n_k, got d = 31, n_k = 30");
  CHECK(contains(refusal([&] { hyperattention(far, 0, Key(1)); }), "got d = 0"));
  CHECK(contains(refusal([&] { hyperattention(far, 2, Key(1)); }), "d >= 3"));
}
