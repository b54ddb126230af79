#include <croquis/attention/sampled_columns.hpp>

#include <croquis/attention/skeinformer.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/column_norms.hpp>
#include <functional>

#include "support/approximations.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"
#include "support/weighted_draws.hpp"

using namespace croquis;
using ColumnProbabilities = SampledColumnsOptions::Probabilities;

namespace {

constexpr ColumnProbabilities kAllProbabilities[] = {ColumnProbabilities::pilot, ColumnProbabilities::exact,
                                                     ColumnProbabilities::uniform};

template <typename T>
std::vector<long double> probabilities_of(const Problem<T>& problem, const Dense& b, ColumnProbabilities kind,
                                          arma::uword d, const Key& draw_key) {
  const arma::uword n = problem.n();
  std::vector<long double> p(n, 1.0L / static_cast<long double>(n));
  if (kind == ColumnProbabilities::uniform) return p;
  const arma::uvec rows = kind == ColumnProbabilities::pilot ? sample_with_replacement(n, d, draw_key.child("pilot"))
                                                             : arma::regspace<arma::uvec>(0, n - 1);
  long double total = 0;
  for (arma::uword i = 0; i < n; ++i) {
    long double squares = 0, norm = 0;
    for (const arma::uword j : rows) squares += b(j, i) * b(j, i);
    for (arma::uword c = 0; c < problem.p_v(); ++c) {
      norm += static_cast<long double>(problem.V()(i, c)) * static_cast<long double>(problem.V()(i, c));
    }
    p[i] = std::sqrt(squares * norm);
    total += p[i];
  }
  for (long double& x : p) x /= total;
  return p;
}

using Estimator = std::function<arma::mat(const Key&)>;

constexpr std::uint64_t kTrials = 20000;
constexpr arma::uword kSampledTokens = 7, kSampledDraws = 3;

// |mean of O~ - B V| in every entry. O~ is a mean of d terms b_ji V_i / p_i, each of expectation B V given what was
// drawn before it, and at most `range` in size, so that over N trials (Azuma, steps of width 2 range)
//   P(|mean - BV| > t) <= 2 exp(-N d t^2 / (2 range^2));
// t makes this 1e-9 over the entries.
bool is_unbiased(const Estimator& estimate, const Dense& exact, double range) {
  const Key root = Key(test_seed()).child("unbiased");
  arma::mat sum(exact.rows, exact.cols, arma::fill::zeros);
  for (std::uint64_t t = 0; t < kTrials; ++t) sum += estimate(root.child(t));
  const double entries = static_cast<double>(exact.rows * exact.cols), draws = kTrials * kSampledDraws;
  const double t = range * std::sqrt(2 * std::log(2 * entries / 1e-9) / draws);
  return distance(sum / kTrials, exact) <= t;
}

// max_i,j b_ji |v_i| / p_i for p_i that may come from any rows: p_i >= min_j b_ji ||V_i|| / sum_k max_j b_jk ||V_k||,
// and n max for uniform ones.
double range_of(const Problem<double>& problem, const Dense& b) {
  double total = 0, ratio = 0, uniform = 0;
  for (arma::uword i = 0; i < b.cols; ++i) {
    long double least = 1, most = 0;
    for (arma::uword j = 0; j < b.rows; ++j) {
      least = std::min(least, b(j, i));
      most = std::max(most, b(j, i));
    }
    const double norm = arma::norm(problem.V().row(i));
    total += static_cast<double>(most) * norm;
    ratio = std::max(ratio, static_cast<double>(most / least));
    uniform = std::max(uniform, static_cast<double>(b.cols) * static_cast<double>(most) * norm);
  }
  return std::max(ratio * total, uniform);
}

}  // namespace

TEST_CASE_TEMPLATE("column_norms: norms of the columns of B and log row sums of A, over several blocks", T, float,
                   double) {
  for (const arma::uword n : {1U, 40U, 300U}) {
    const Problem<T> problem = random_problem<T>(n, 5, 2, 3, Key(test_seed()).child("norms"));
    const ColumnNorms<T> found = column_norms(problem.Q(), problem.K());
    const Dense logits = logits_of(problem.Q(), problem.K()), b = softmax_of(logits);
    const std::vector<long double> sums = log_sums_of(logits);
    const arma::Col<T> log_sums = found.row_sums.logarithms();
    const double relative = entry_error(problem) + static_cast<double>(n) * unit<T>();
    for (arma::uword i = 0; i < n; ++i) {
      long double squares = 0;
      for (arma::uword j = 0; j < n; ++j) squares += b(j, i) * b(j, i);
      CHECK(std::fabs(static_cast<double>(static_cast<long double>(found.norms(i)) / std::sqrt(squares) - 1)) <=
            relative);
      CHECK(std::fabs(static_cast<double>(static_cast<long double>(log_sums(i)) - sums[i])) <=
            relative + 4 * unit<T>() * static_cast<double>(std::fabs(sums[i])));
    }
  }
}

TEST_CASE("column_norms: more blocks of queries than groups, the same bits for any number of threads") {
  constexpr arma::uword n = 66 * 256 + 10;
  const Key key = Key(test_seed()).child("groups");
  const arma::mat q = random_matrix<double>(n, 4, key.child("q")), k = random_matrix<double>(3, 4, key.child("k"));
  const arma::vec norms = column_norms(q, k).norms;
  const Dense b = softmax_of(logits_of(q, k));
  for (arma::uword i = 0; i < k.n_rows; ++i) {
    long double squares = 0;
    for (arma::uword j = 0; j < n; ++j) squares += b(j, i) * b(j, i);
    CHECK(std::fabs(static_cast<double>(static_cast<long double>(norms(i)) / std::sqrt(squares) - 1)) <=
          static_cast<double>(n) * unit<double>());
  }
  const ThreadCount one(1);
  CHECK(arma::all(column_norms(q, k).norms == norms));
}

TEST_CASE_TEMPLATE("sampled-columns: every entry of B~ is times_j b_ij / (d p_j)", T, float, double) {
  int skipped = 0;
  for (std::uint64_t t = 0; t < 8; ++t) {
    const Key draw_key = Key(test_seed()).child("formula").child(t);
    for (const ColumnProbabilities kind : kAllProbabilities) {
      for (const arma::uword n : {1U, 26U}) {
        for (const arma::uword d : {1U, 9U, 26U}) {
          if (d > n) continue;
          const Problem<T> problem =
              n > 5 ? awkward_problem<T>(n, 6, 3, 3, draw_key) : random_problem<T>(n, 6, 3, 3, draw_key);
          const Key draw = draw_key.child(d);
          const Dense b = scores_of(problem.Q(), problem.K(), Target::softmax);
          const std::vector<long double> p = probabilities_of(problem, b, kind, d, draw);
          // A root of n squares of entries at most, and one of p_v squares.
          const double of_weights =
              kind == ColumnProbabilities::uniform ? 0 : entry_error(problem) + (double(n) + 8) * unit<T>();
          const WeightedDraws columns = weighted_draws(p, d, draw.child("columns"), of_weights);
          if (!columns.clear) {
            ++skipped;
            continue;
          }
          const Approximation<T> approximation = sampled_columns(problem, d, draw, {.probabilities = kind});
          Dense expected(n, n);
          for (const arma::uword j : columns.indices) {
            for (arma::uword i = 0; i < n; ++i) expected(i, j) += b(i, j) / (static_cast<long double>(d) * p[j]);
          }
          const double size = static_cast<double>(largest_entry_of(expected));
          check_scores(approximation, problem, expected,
                       size * (4 * entry_error(problem) + 4 * static_cast<double>(n) * unit<T>()));
        }
      }
    }
  }
  // In float weights are off by e, about 1.6e-5. A draw is not clear with probability 2 x 4 e sum F (1 - F) <= 8 e x 26
  // / 6, 6e-4, and 26 draws are not with 1.5e-2, for either kind of weights. The 24 pairs of t and d > 1 ... 26 give
  // two cases each: more than 20 are left out if more than ten of the pairs are, with probability C(24, 11) .03^11 <
  // 1e-10.
  CHECK(skipped <= 20);
}

TEST_CASE("sampled-columns: the mean output is B V for pilot, exact and uniform probabilities, mutants are rejected") {
  const ThreadCount one(1);  // many small problems
  const Problem<double> problem = random_problem<double>(kSampledTokens, 4, 2, 1, Key(5), 2);
  const Dense b = scores_of(problem.Q(), problem.K(), Target::softmax), exact = b * problem.V();
  const double range = range_of(problem, b);
  // t is 0.028 range = 0.38, the entries of B V are about 2. Without weights they would be 3/7 of that, with 1/d alone
  // 1/7, with one S for S S^T sqrt(3/7): off by 1.1, 1.7 and 0.7.
  CHECK(0.0284 * range < 0.5);
  for (const char* kind : {"pilot", "exact", "uniform"}) {
    const PreparedMethod<double> prepared = method_on(problem, "sampled-columns", {{"p", kind}});
    CHECK(is_unbiased([&](const Key& s) { return prepared.approximate(kSampledDraws, s).output; }, exact, range));
  }
  const PreparedMethod<double> no_norm = method_on(problem, "skeinformer-no-norm");
  CHECK(is_unbiased([&](const Key& s) { return no_norm.approximate(kSampledDraws, s).output; }, exact, range));

  const PreparedMethod<double> raw = method_on(problem, "skeinformer-no-norm", {{"preset", "code"}});
  CHECK_FALSE(is_unbiased([&](const Key& s) { return raw.approximate(kSampledDraws, s).output; }, exact, range));
  const ColumnNorms<double> norms = column_norms(problem.Q(), problem.K());
  arma::vec p = norms.norms % arma::sqrt(arma::sum(arma::square(problem.V()), 1));
  p /= arma::accu(p);
  const auto mutant = [&](const auto& weight) {
    return [&, weight](const Key& s) {
      arma::mat output(kSampledTokens, problem.p_v(), arma::fill::zeros);
      for (const arma::uword j : sample_weighted(p, kSampledDraws, s.child("columns"))) {
        for (arma::uword i = 0; i < kSampledTokens; ++i) {
          output.row(i) += static_cast<double>(b(i, j)) * weight(p(j)) * problem.V().row(j);
        }
      }
      return output;
    };
  };
  CHECK(is_unbiased(mutant([](double x) { return 1 / (kSampledDraws * x); }), exact, range));  // none
  CHECK_FALSE(is_unbiased(mutant([](double) { return 1.0; }), exact, range));                  // weights dropped
  CHECK_FALSE(is_unbiased(mutant([](double) { return 1.0 / kSampledDraws; }), exact, range));
  CHECK_FALSE(
      is_unbiased(mutant([](double x) { return 1 / std::sqrt(kSampledDraws * x); }), exact, range));  // S for S S^T
}

TEST_CASE_TEMPLATE("sampled-columns: V = 0 gives 0, columns of value 0 are never drawn, norms of 100 are safe", T,
                   float, double) {
  const Problem<T> problem = random_problem<T>(12, 4, 2, 100, Key(test_seed()).child("edges"));
  const Problem<T> none(problem.Q(), problem.K(), arma::Mat<T>(12, 2, arma::fill::zeros));
  arma::Mat<T> v(12, 2, arma::fill::zeros);
  v.row(4).ones();
  const Problem<T> one(problem.Q() / T(100), problem.K() / T(100), v);
  const Dense b = scores_of(one.Q(), one.K(), Target::softmax);
  for (const ColumnProbabilities kind : kAllProbabilities) {
    CHECK(sampled_columns(problem, 5, Key(1), {.probabilities = kind}).output.is_finite());
    CHECK(arma::all(arma::vectorise(sampled_columns(none, 5, Key(1), {.probabilities = kind}).output) == T(0)));
    if (kind == ColumnProbabilities::uniform) continue;
    // All draws are column 4, whose p is 1: exact.
    CHECK(distance(sampled_columns(one, 5, Key(1), {.probabilities = kind}).output, b * v) <= 2 * entry_error(one));
  }
}

TEST_CASE("sampled-columns: d = 0 and d > n are refused") {
  const Problem<double> problem = random_problem<double>(5, 2, 2, 1, Key(1));
  CHECK(refusal([&] { sampled_columns(problem, 6, Key(1)); }) == "sampled-columns: 1 <= d <= n_k, got d = 6, n_k = 5");
  CHECK(contains(refusal([&] { sampled_columns(problem, 0, Key(1)); }), "got d = 0, n_k = 5"));
}
