#include <croquis/attention/balancekv.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/random/draws.hpp>

#include "support/approximations.hpp"
#include "support/text.hpp"
#include "support/unnormalised_sums.hpp"

using namespace croquis;

namespace {

using KeyWeights = std::vector<std::pair<arma::uword, double>>;

// What the walks leave of keys first ... first + n - 1: a sum of vectors in the space of h, kept as its inner products
// with all keys, gets every new sign at once.
KeyWeights walked_keys(const Dense& k, const Dense& v, arma::uword first, arma::uword n, arma::uword d,
                       const BalancekvOptions& options, const Key& draw_key) {
  long double largest_value = 0;
  for (arma::uword j = first; j < first + n; ++j) {
    for (arma::uword c = 0; c < v.cols; ++c) largest_value = std::max(largest_value, std::fabs(v(j, c)));
  }
  const long double c_of_h = static_cast<long double>(options.constant) * largest_value * largest_value;
  const auto h = [&](arma::uword i, arma::uword j) {
    long double keys_product = 0, values_product = 0;
    for (arma::uword c = 0; c < k.cols; ++c) keys_product += k(i, c) * k(j, c);
    for (arma::uword c = 0; c < v.cols; ++c) values_product += v(i, c) * v(j, c);
    return std::exp(keys_product / std::sqrt(static_cast<long double>(k.cols))) * (values_product + c_of_h);
  };
  std::vector<arma::uword> equal;
  for (arma::uword j = first; j < first + n; ++j) equal.push_back(j);
  KeyWeights kept, odd;
  double weight = 1;
  arma::uword r = 0;
  for (arma::uword left = n; left > d; ++r, weight *= 2) {
    const bool all = (left + 1) / 2 >= d;
    const arma::uword there = equal.size() / 2, pairs = all ? there : left - d;
    // The keys of this round: all but an odd one, or pairs that are evenly spread.
    std::vector<arma::uword> walked;
    std::vector<bool> taken(equal.size(), false);
    for (arma::uword j = 0; j < pairs; ++j) {
      for (const arma::uword place : {2 * (j * there / pairs), 2 * (j * there / pairs) + 1}) {
        walked.push_back(equal[place]);
        taken[place] = true;
      }
    }
    for (std::size_t j = 0; j < equal.size(); ++j) {
      if (!taken[j]) (all ? odd : kept).emplace_back(equal[j], weight);
    }
    equal.clear();
    const arma::uword blocks = (walked.size() + options.block - 1) / options.block;
    for (arma::uword g = 0; g < blocks; ++g) {
      const std::vector<arma::uword> block(
          walked.begin() + static_cast<std::ptrdiff_t>(2 * (pairs * g / blocks)),
          walked.begin() + static_cast<std::ptrdiff_t>(2 * (pairs * (g + 1) / blocks)));
      std::vector<long double> sum(block.size(), 0);
      long double largest = 0;
      arma::uword plus = 0, minus = 0;
      for (std::size_t i = 0; i < block.size(); ++i) {
        largest = std::max(largest, h(block[i], block[i]));
        const long double p = std::clamp(0.5L - options.gamma * sum[i] / largest, 0.0L, 1.0L);  // of the sign 1
        const bool chosen = uniform_at(draw_key.child(r).child(g), i) >= 1 - p;
        const bool kept_now = 2 * plus == block.size() ? false : 2 * minus == block.size() ? true : chosen;
        (kept_now ? plus : minus) += 1;
        if (kept_now) equal.push_back(block[i]);
        for (std::size_t j = i + 1; j < block.size(); ++j) sum[j] += (kept_now ? 1 : -1) * h(block[i], block[j]);
      }
    }
    left = all ? (left + 1) / 2 : d;
  }
  for (const arma::uword key : equal) kept.emplace_back(key, weight);
  if (odd.empty()) return kept;
  double total = 0;
  for (const auto& key : odd) total += key.second;
  const double at = uniform_at(draw_key.child("aside"), 0) * total;
  std::size_t drawn = 0;
  for (double sum = odd[0].second; sum < at; sum += odd[++drawn].second) {
  }
  kept.emplace_back(odd[drawn].first, total);
  return kept;
}

Dense scores_of_kept(const Problem<double>& problem, const KeyWeights& kept) {
  const Dense logits = logits_of(problem.Q(), problem.K());
  Dense b(logits.rows, logits.cols);
  for (arma::uword i = 0; i < b.rows; ++i) {
    long double sum = 0;
    for (const auto& [key, weight] : kept) sum += weight * std::exp(logits(i, key));
    for (const auto& [key, weight] : kept) b(i, key) = weight * std::exp(logits(i, key)) / sum;
  }
  return b;
}

}  // namespace

TEST_CASE("balancekv: every entry is that of the keys that the walks leave, with their weights") {
  const Key draw_key = Key(test_seed()).child("entries");
  for (const TokenAlignment shape : {TokenAlignment{37, 37}, {5, 150}, {40, 9}}) {
    const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 6, 3, 3, draw_key);
    for (const BalancekvOptions& options :
         {BalancekvOptions{}, BalancekvOptions{.gamma = 3, .block = 8, .constant = 0, .sinks = 1, .window = 3}}) {
      for (const arma::uword d : {1U, 4U, 8U}) {
        CAPTURE(d);
        const Key draw = draw_key.child(d);
        const Approximation<double> approximation = balancekv(problem, d, draw, options);
        const arma::uword sinks = std::min(options.sinks, d / 4), window = std::min(options.window, d / 4);
        KeyWeights kept = walked_keys(problem.K(), problem.V(), sinks, shape.n_k - sinks - window, d - sinks - window,
                                      options, draw.child("walk"));
        for (arma::uword j = 0; j < sinks; ++j) kept.emplace_back(j, 1.0);
        for (arma::uword j = shape.n_k - window; j < shape.n_k; ++j) kept.emplace_back(j, 1.0);
        const Dense expected = scores_of_kept(problem, kept);
        const double entry = 2 * softmax_error<double>(double(shape.n_k), 6, largest_logit(problem));
        CHECK(distance(approximation.scores->dense(), expected) <= entry);
        CHECK(distance(approximation.output, expected * problem.V()) <=
              10 * entry * static_cast<double>(largest_entry_of(problem.V())));
        CHECK(interface_gap(approximation, problem) <= 1e3 * unit<double>());
        CHECK(row_sum_gap(approximation) <= 100 * unit<double>());
      }
    }
  }
}

TEST_CASE("balancekv: row sums and the sums of the output are unbiased for any n, with sinks and a window") {
  const UnnormalisedSums sums(9, 0.5);
  const arma::mat mean =
      sums.mean_of([&](const Key& key) { return balancekv(sums.problem, 4, key, {.sinks = 1, .window = 1}); });
  CHECK(distance(mean, sums.exact) <= sums.bound());
  CHECK(sums.bound() < 0.15 * double(largest_entry_of(sums.exact)));
}

TEST_CASE_TEMPLATE("balancekv: exact for d = n; no choice changes with the scale of V; few queries cost what they do",
                   T, float, double) {
  const Problem<T> problem = random_problem<T>(40, 4, 3, 3, Key(test_seed()).child("scale"));
  for (const BalancekvOptions& options : {BalancekvOptions{}, BalancekvOptions{.sinks = 2, .window = 1000}}) {
    check_scores(balancekv(problem, 40, Key(1), options), problem, scores_of(problem.Q(), problem.K(), Target::softmax),
                 entry_error(problem));
  }
  const Problem<T> scaled(problem.Q(), problem.K(), T(1024) * problem.V());
  CHECK(identical(arma::Mat<T>(T(1024) * balancekv(problem, 16, Key(1)).output), balancekv(scaled, 16, Key(1)).output));
  // 40 keys are a block of 40, then 4 pairs of 20 are halved in another: 40^2 + 8^2 entries of 2 (4 + 3) + 1 flops.
  CHECK(method_on(problem, "balancekv").flops(16) == (40 * 40 + 8 * 8 + 40 * 16) * 15);
}

TEST_CASE_TEMPLATE("balancekv: equal tokens are exact; V = 0, padding, large norms, refusals", T, float, double) {
  const Problem<T> far = random_problem<T>(30, 4, 2, 100, Key(test_seed()).child("far"));
  const Problem<T> none(far.Q() / T(100), far.K() / T(100), arma::Mat<T>(30, 2, arma::fill::zeros));
  const Problem<T> padded(far.Q(), far.K(), far.V(), 21),
      shorter(far.Q().head_rows(21), far.K().head_rows(21), far.V().head_rows(21));
  const Problem<T> one(far.Q(), arma::repmat(far.K().row(0), 30, 1), arma::repmat(far.V().row(0), 30, 1));
  for (const BalancekvOptions& options : {BalancekvOptions{}, BalancekvOptions{.gamma = 1e6, .constant = 0}}) {
    CHECK(arma::abs(balancekv(none, 8, Key(1), options).output).max() == 0);
    CHECK(balancekv(far, 8, Key(2), options).output.is_finite());
    CHECK(identical(balancekv(padded, 8, Key(1), options).output, balancekv(shorter, 8, Key(1), options).output));
    CHECK(distance(balancekv(one, 5, Key(1), options).output, one.V()) <= 1000 * unit<T>());
    CHECK(refusal([&] { balancekv(far, 31, Key(1), options); }) == "balancekv: 1 <= d <= n_k, got d = 31, n_k = 30");
    CHECK(contains(refusal([&] { balancekv(far, 0, Key(1), options); }), "got d = 0"));
  }
  CHECK(contains(refusal([&] { balancekv(far, 3, Key(1), {.constant = -1}); }), "constant >= 0"));
  CHECK(contains(refusal([&] { balancekv(far, 3, Key(1), {.block = 7}); }), "an even number of keys in a block"));
  CHECK(contains(refusal([&] { balancekv(far, 3, Key(1), {.gamma = -1}); }), "gamma >= 0"));
  CHECK(contains(refusal([&] { method_on(far, "balancekv", {{"block", "7"}}); }), "got block = 7"));
}
