#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <croquis/attention/vattention.hpp>
#include <croquis/random/draws.hpp>
#include <set>

#include "support/approximations.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"
#include "support/unnormalised_sums.hpp"

using namespace croquis;
using Certain = VattentionOptions::Certain;
using Verified = VattentionOptions::Verified;

namespace {

// What one query meets, with weights, from sets and loops; fallen: the budget did not fit.
struct MetKeys {
  std::vector<long double> weight;  // of every key
  bool fallen = false;
};

long double quantile_at(long double probability) {
  return boost::math::quantile(boost::math::normal_distribution<long double>(), probability);
}

MetKeys met_keys(const Dense& logits, arma::uword i, const arma::mat& v, arma::uword visible, arma::uword own,
                 bool causal, arma::uword d, const VattentionOptions& options, const Key& draw_key) {
  MetKeys met{std::vector<long double>(logits.cols, 0.0L)};
  if (visible <= d) {
    for (arma::uword j = 0; j < visible; ++j) met.weight[j] = 1;
    return met;
  }
  const arma::uword half = (d + 1) / 2, sinks = std::min(options.sinks, d / 4), others = half - sinks;
  std::set<arma::uword> certain;
  for (arma::uword j = 0; j < sinks; ++j) certain.insert(j);
  if (options.certain == Certain::window) {
    // `others` keys that end with the query's own, or are about it.
    const long long first = causal ? (long long)own - (long long)others + 1 : (long long)own - (long long)(others / 2);
    const long long begin = std::max(0LL, first);
    // A window that would begin before the first key is as long after it as it is before the query.
    const long long length = (long long)others;
    for (long long j = begin; j < begin + length && j < (long long)visible; ++j) certain.insert(arma::uword(j));
  } else {
    std::vector<std::pair<long double, long long>> sorted;
    for (arma::uword j = sinks; j < visible; ++j) sorted.emplace_back(-logits(i, j), (long long)j);
    std::sort(sorted.begin(), sorted.end());
    for (arma::uword s = 0; s < others; ++s) certain.insert(arma::uword(sorted[s].second));
  }
  std::vector<arma::uword> rest;
  for (arma::uword j = 0; j < visible; ++j) {
    if (!certain.contains(j)) rest.push_back(j);
  }
  const auto drawn = [&](const char* purpose, arma::uword count) {
    std::vector<std::uint64_t> words(count);
    fill_words(draw_key.child(purpose).child(i), 0, count, words.data());
    std::vector<arma::uword> keys;
    keys.reserve(count);
    for (const std::uint64_t word : words) keys.push_back(rest[place_of(word, rest.size())]);
    return keys;
  };
  const arma::uword m = d - certain.size(), pilots = m < 3 ? 0 : std::max<arma::uword>(2, m / 4);
  arma::uword samples = m - pilots;
  met.fallen = true;
  const auto n_s = static_cast<long double>(rest.size());
  if (pilots > 0) {
    const std::vector<arma::uword> pilot = drawn("pilot", pilots);
    const auto count = static_cast<long double>(pilots);
    // A column of ones beside the values: sums of the row and of the numerator alike.
    std::vector<long double> total(v.n_cols + 1, 0.0L), spread(v.n_cols + 1, 0.0L);
    for (arma::uword c = 0; c <= v.n_cols; ++c) {
      const auto term = [&](arma::uword j) {
        return std::exp(logits(i, j)) * (c == v.n_cols ? 1.0L : static_cast<long double>(v(j, c)));
      };
      long double mean = 0;
      for (const arma::uword j : pilot) mean += term(j) / count;
      for (const arma::uword j : pilot) spread[c] += (term(j) - mean) * (term(j) - mean) / (count - 1);
      for (const arma::uword j : certain) total[c] += term(j);
      total[c] += n_s * mean;
    }
    const bool both = options.verified == Verified::output;
    const long double eps = options.epsilon / (both ? 4 : 1), delta = options.delta / (both ? 2 : 1);
    const long double z = quantile_at(1 - (options.sides == VattentionOptions::Sides::two ? delta / 2 : delta));
    long double budget = std::pow(z * n_s / (eps * total.back()), 2) * spread.back();
    if (both) {
      long double trace = 0, norm = 0;
      for (arma::uword c = 0; c < v.n_cols; ++c) {
        trace += spread[c];
        norm += total[c] * total[c];
      }
      budget = std::max(budget, std::pow(z * n_s / eps, 2) * trace / norm);
    }
    budget = std::max(count, std::ceil(budget));
    met.fallen = budget > static_cast<long double>(samples);
    if (!met.fallen) samples = arma::uword(budget);
  }
  for (const arma::uword j : certain) met.weight[j] = 1;
  std::set<arma::uword> seen;
  for (const arma::uword j : drawn("keys", samples)) {
    if (options.repeats == VattentionOptions::Repeats::once && !seen.insert(j).second) continue;
    met.weight[j] += n_s / static_cast<long double>(samples);
  }
  return met;
}

Dense reference_of(const Problem<double>& problem, arma::uword d, const VattentionOptions& options, const Key& draw_key,
                   arma::uword& fallen) {
  const Dense logits = logits_of(problem.Q(), problem.K());
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  Dense b(n_q, n_k);
  fallen = 0;
  for (arma::uword i = 0; i < n_q; ++i) {
    const arma::uword token = i + n_k;
    const arma::uword own = token > n_q ? token - n_q : 0;
    const arma::uword visible = problem.is_causal() ? own + 1 : n_k;
    const MetKeys met = met_keys(logits, i, problem.V(), visible, own, problem.is_causal(), d, options, draw_key);
    fallen += met.fallen ? 1 : 0;
    long double sum = 0;
    for (arma::uword j = 0; j < n_k; ++j) sum += met.weight[j] * std::exp(logits(i, j));
    for (arma::uword j = 0; j < n_k; ++j) b(i, j) = met.weight[j] * std::exp(logits(i, j)) / sum;
  }
  return b;
}

}  // namespace

TEST_CASE("vattention: every entry is that of the certain keys and of the samples that the pilot asks for") {
  const Key draw_key = Key(test_seed()).child("entries");
  for (const bool causal : {false, true}) {
    for (const TokenAlignment shape : {TokenAlignment{41, 41}, {5, 90}, {30, 11}}) {
      if (causal && shape.n_q > shape.n_k) continue;
      RelativePosition<double> position;
      position.causal = causal;
      const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 6, 3, 1.5, draw_key, position);
      // The budgets of the first are too large for all rows, those of the others fit for some or for all.
      const VattentionOptions loose{.certain = Certain::window, .epsilon = 0.4, .delta = 0.3, .sinks = 2};
      const VattentionOptions both{
          .certain = Certain::oracle, .verified = Verified::output, .epsilon = 0.9, .delta = 0.4};
      for (const VattentionOptions& options : {VattentionOptions{}, loose, both, VattentionOptions::code()}) {
        for (const arma::uword d : {1U, 2U, 7U, 11U}) {
          CAPTURE(d);
          const Approximation<double> approximation = vattention(problem, d, draw_key.child(d), options);
          arma::uword fallen = 0;
          const Dense expected = reference_of(problem, d, options, draw_key.child(d), fallen);
          const double entry = 4 * softmax_error<double>(double(shape.n_k), 6, largest_logit(problem));
          check_weighted_scores(approximation, problem, expected, entry);
          CHECK(approximation.diagnostics.fallen_rows == fallen);
        }
      }
    }
  }
}

TEST_CASE("vattention: budgets that fit are used: fewer samples for a larger epsilon, and none where nothing differs") {
  const Problem<double> problem = random_problem<double>(400, 8, 3, 0.5, Key(test_seed()).child("budget"));
  const auto visits = [&](double epsilon) {
    double count = 0;
    const auto found = vattention(problem, 100, Key(1), {.epsilon = epsilon});
    for (const double b : found.scores->dense()) count += b != 0 ? 1 : 0;
    return count / 400;
  };
  // At .1 all rows have as many as the pilot; at .02 those do not whose scores vary by more than .035 of their mean.
  CHECK(visits(0.02) > visits(0.1));
  CHECK(visits(0.9) <= 50 + 12);  // as many as the pilot had
  CHECK(*vattention(problem, 100, Key(1), {.epsilon = 0.9}).diagnostics.fallen_rows == 0);
  CHECK(*vattention(problem, 100, Key(1), {.epsilon = 1e-6}).diagnostics.fallen_rows == 400);
  // Lemma 4.1 in one dimension: z = 1.959964 at delta = .05.
  CHECK(sampling_budget(100, 0.2, 5, 0.05) == doctest::Approx(std::pow(1.9599639845400545 * 100 * 0.2 / 5, 2)));
  CHECK(sampling_budget(100, 0, 0, 0.05) == 0);
  CHECK(sampling_budget(100, 0.2, 5, 1) == 0);  // z of 1/2
  for (const double delta : {0.0, -0.1, 2.0, std::nan("")}) {
    CAPTURE(delta);
    CHECK(contains(refusal([&] { (void)sampling_budget(100, 0.2, 5, delta); }), "sampling_budget: 0 < delta <= 1"));
  }
}

TEST_CASE("vattention: a budget for the output does not depend on the size of the values") {
  const Problem<double> problem = random_problem<double>(300, 6, 3, 0.5, Key(test_seed()).child("size"));
  const auto with_values = [&](double size) {
    const Problem<double> sized(problem.Q(), problem.K(), (problem.V() + 1) * size);
    return vattention(sized, 150, Key(1), {.verified = Verified::output, .epsilon = 0.9});
  };
  const Approximation<double> found = with_values(1);
  CHECK(*found.diagnostics.fallen_rows < 300);
  for (const double size : {0x1p500, 0x1p-540}) {  // the squares of these are infinite, and 0
    const Approximation<double> other = with_values(size);
    CHECK(identical(other.scores->dense(), found.scores->dense()));
    CHECK(identical(arma::mat(other.output / size), found.output));
  }
}

TEST_CASE("vattention: row sums and the sums of the output are unbiased; keys that count once are too few") {
  const UnnormalisedSums sums(24, 0.2);
  const auto is_unbiased = [&](const VattentionOptions& options) {
    const arma::mat mean = sums.mean_of([&](const Key& key) { return vattention(sums.problem, 20, key, options); });
    return distance(mean, sums.exact) <= sums.bound(3);
  };
  CHECK(is_unbiased({.epsilon = 0.3}));
  CHECK(is_unbiased({.epsilon = 1e-9}));
  // No budget fits, so 8 samples of the 14 keys that are not certain. Where a key counts once, all 14 are in the mean
  // (14 / 8) (1 - (13 / 14)^8) = 0.78 times. At twice the bound this is taken for unbiased with kFailure / 3 at most.
  CHECK_FALSE(is_unbiased({.epsilon = 1e-9, .repeats = VattentionOptions::Repeats::once}));
  const Dense logits = logits_of(sums.problem.Q(), sums.problem.K());
  const long double smallest = std::exp(*std::min_element(logits.entries.begin(), logits.entries.end()));
  CHECK((1 - 14 / 8.0 * (1 - std::pow(13 / 14.0, 8))) * 14 * double(smallest) >= 2 * sums.bound(3));
}

TEST_CASE_TEMPLATE("vattention: exact for d = n; V = 0, padding, large norms, refusals", T, float, double) {
  const Key draw_key = Key(test_seed()).child("edges");
  const Problem<T> problem = random_problem<T>(40, 4, 3, 3, draw_key);
  const Problem<T> far = random_problem<T>(30, 4, 2, 100, draw_key);
  for (const VattentionOptions& options :
       {VattentionOptions{}, VattentionOptions{.certain = Certain::oracle, .verified = Verified::output},
        VattentionOptions::code()}) {
    check_scores(vattention(problem, 40, Key(1), options), problem,
                 scores_of(problem.Q(), problem.K(), Target::softmax), entry_error(problem));
    check_edges<T>("vattention",
                   [&](const Problem<T>& p, arma::uword d, const Key& key) { return vattention(p, d, key, options); });
  }
  CHECK(contains(refusal([&] { vattention(far, 3, Key(1), {.epsilon = 0}); }), "epsilon > 0"));
  CHECK(contains(refusal([&] { vattention(far, 3, Key(1), {.delta = 0.7}); }), "delta <= 0.5"));
}

TEST_CASE("vattention: flops are those of d keys a query, and of all scores for the oracle") {
  const Problem<double> problem = random_problem<double>(50, 6, 3, 1, Key(1));
  CHECK(method_on(problem, "vattention").flops(10) == 50.0 * 10 * (2 * 9 + 1));
  CHECK(method_on(problem, "vattention", {{"certain", "oracle"}}).flops(10) ==
        50.0 * 10 * (2 * 9 + 1) + 50.0 * 50 * 2 * 6);
  arma::uword most = 0;
  const arma::mat b = vattention(problem, 10, Key(1)).scores->dense();
  for (arma::uword i = 0; i < 50; ++i) most = std::max<arma::uword>(most, arma::accu(b.row(i) != 0));
  CHECK(most <= 10);
}
