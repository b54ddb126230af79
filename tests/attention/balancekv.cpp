#include <croquis/attention/balancekv.hpp>
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
        const Dense expected = weighted_softmax(problem, kept);
        const double entry = 2 * softmax_error<double>(double(shape.n_k), 6, largest_logit(problem));
        check_weighted_scores(approximation, problem, expected, entry);
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
  const Problem<T> few = random_rectangle<T>(10, 40, 4, 3, 3, Key(test_seed()).child("few"));
  CHECK(method_on(few, "balancekv").flops(16) == (40 * 40 + 8 * 8 + 10 * 16) * 15);
}

TEST_CASE_TEMPLATE("balancekv: equal tokens are exact; V = 0, padding, large norms, refusals", T, float, double) {
  const Problem<T> far = random_problem<T>(30, 4, 2, 100, Key(test_seed()).child("far"));
  const Problem<T> one(far.Q(), arma::repmat(far.K().row(0), 30, 1), arma::repmat(far.V().row(0), 30, 1));
  for (const BalancekvOptions& options : {BalancekvOptions{}, BalancekvOptions{.gamma = 1e6, .constant = 0}}) {
    CHECK(distance(balancekv(one, 5, Key(1), options).output, one.V()) <= 1000 * unit<T>());
    check_edges<T>("balancekv",
                   [&](const Problem<T>& p, arma::uword d, const Key& key) { return balancekv(p, d, key, options); });
  }
  CHECK(contains(refusal([&] { balancekv(far, 3, Key(1), {.constant = -1}); }), "constant >= 0"));
  CHECK(contains(refusal([&] { balancekv(far, 3, Key(1), {.block = 7}); }), "an even number of keys in a block"));
  CHECK(contains(refusal([&] { balancekv(far, 3, Key(1), {.gamma = -1}); }), "gamma >= 0"));
  CHECK(contains(refusal([&] { method_on(far, "balancekv", {{"block", "7"}}); }), "got block = 7"));
}
