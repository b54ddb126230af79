#include <croquis/attention/thinformer.hpp>
#include <croquis/random/draws.hpp>

#include <cmath>

#include "support/approximations.hpp"
#include "support/text.hpp"
#include "support/unnormalised_sums.hpp"

using namespace croquis;

namespace {

struct Kept {
  arma::uword key;
  double weight;
};

struct SignedKeys {
  std::vector<arma::uword> keys;
  std::vector<int> signs;
};

// KH-Compress of `keys`, one pair after the other.
std::vector<Kept> compressed_keys(const Dense& k, const Dense& v, const std::vector<arma::uword>& keys, arma::uword d,
                                  double delta, const Key& draw_key) {
  long double longest = 0, largest_value = 0;
  for (const arma::uword j : keys) {
    for (arma::uword c = 0; c < v.cols; ++c) largest_value = std::max(largest_value, std::fabs(v(j, c)));
    long double square = 0;
    for (arma::uword c = 0; c < k.cols; ++c) square += k(j, c) * k(j, c);
    longest = std::max(longest, square);
  }
  const long double root = std::sqrt(static_cast<long double>(k.cols));
  const auto h = [&](arma::uword i, arma::uword j) {
    long double keys_product = 0, values_product = 0;
    for (arma::uword c = 0; c < k.cols; ++c) keys_product += k(i, c) * k(j, c);
    for (arma::uword c = 0; c < v.cols; ++c) values_product += v(i, c) * v(j, c);
    return std::exp((keys_product - longest) / root) * (values_product + largest_value * largest_value);
  };
  // How often they are halved, and what is left after each time.
  std::vector<arma::uword> counts = {static_cast<arma::uword>(keys.size())};
  while (counts.back() > d) counts.push_back(std::max(d, (counts.back() + 1) / 2));
  const arma::uword rounds = counts.size() - 1;
  std::vector<arma::uword> equal = keys;
  std::vector<Kept> others;
  std::vector<Kept> waiting;
  double weight = 1;
  for (arma::uword r = 0; r < rounds; ++r) {
    const bool all = counts[r + 1] == (counts[r] + 1) / 2;
    const arma::uword there = equal.size() / 2, pairs = all ? there : counts[r] - counts[r + 1];
    arma::uword groups = 1;
    for (arma::uword later = r + 1; later < rounds; ++later) groups *= 4;
    groups = std::min(groups, pairs);
    std::vector<bool> taken(equal.size(), false);
    std::vector<arma::uword> left;
    for (arma::uword g = 0; g < groups; ++g) {
      const Key numbers = draw_key.child(r).child(g);
      const arma::uword first = pairs * g / groups, last = pairs * (g + 1) / groups;
      SignedKeys walk;
      long double largest = 0;
      for (arma::uword j = first; j < last; ++j) {
        const arma::uword place = 2 * (j * there / pairs), x = equal[place], y = equal[place + 1];
        taken[place] = taken[place + 1] = true;
        const long double norm = std::sqrt(h(x, x) - 2 * h(x, y) + h(y, y));
        largest = std::max(largest, norm);
        long double along = 0;
        for (std::size_t l = 0; l < walk.keys.size(); ++l) {
          along += walk.signs[l] * (h(walk.keys[l], x) - h(walk.keys[l], y));
        }
        const long double threshold =
            norm * largest *
            (0.5L + std::log(8.0L * static_cast<long double>(d * d * rounds) /
                             (static_cast<long double>(delta) * 2 * static_cast<long double>(last - first))));
        // y is left with probability (1 + along / threshold) / 2.
        const bool second = uniform_at(numbers, j - first) < (1 + (threshold > 0 ? along / threshold : 0)) / 2;
        walk.keys.insert(walk.keys.end(), {x, y});
        walk.signs.insert(walk.signs.end(), {second ? -1 : 1, second ? 1 : -1});
        left.push_back(second ? y : x);
      }
    }
    for (std::size_t j = 0; j < equal.size(); ++j) {
      if (!taken[j]) (all ? others : waiting).push_back({equal[j], weight});
    }
    equal = left;
    weight *= 2;
  }
  std::vector<Kept> kept = waiting;
  for (const arma::uword key : equal) kept.push_back({key, weight});
  if (!others.empty()) {
    double total = 0;
    for (const Kept& key : others) total += key.weight;
    const double at = uniform_at(draw_key.child("aside"), 0) * total;
    std::size_t chosen = 0;
    for (double sum = others[0].weight; sum < at; sum += others[++chosen].weight) {
    }
    kept.push_back({others[chosen].key, total});
  }
  return kept;
}

std::vector<arma::uword> keys_of_code(arma::uword n) {
  arma::uword power = 1;
  for (; 4 * power <= n; power *= 4) {
  }
  std::vector<arma::uword> keys;
  for (arma::uword j = 0; j < power; ++j) keys.push_back(j * (n / power));
  return keys;
}

}  // namespace

TEST_CASE("thinformer: every entry is that of the keys that halving leaves, with their weights") {
  const Key draw_key = Key(test_seed()).child("entries");
  for (const TokenAlignment shape : {TokenAlignment{37, 37}, {5, 150}, {40, 9}}) {
    const Problem<double> problem = random_rectangle<double>(shape.n_q, shape.n_k, 6, 3, 3, draw_key);
    std::vector<arma::uword> all;
    for (arma::uword j = 0; j < shape.n_k; ++j) all.push_back(j);
    for (const bool code : {false, true}) {
      const ThinformerOptions options = code ? ThinformerOptions::code() : ThinformerOptions{.delta = 0.1};
      const std::vector<arma::uword> keys = code ? keys_of_code(shape.n_k) : all;
      for (const arma::uword d : {1U, 4U, 7U}) {
        CAPTURE(d);
        const Key draw = draw_key.child(d);
        const Approximation<double> approximation = thinformer(problem, d, draw, options);
        const Dense expected = weighted_softmax(
            problem, compressed_keys(problem.K(), problem.V(), keys, std::min<arma::uword>(d, keys.size()),
                                     options.delta, draw.child("halving")));
        const double entry = 2 * softmax_error<double>(double(shape.n_k), 6, largest_logit(problem));
        check_weighted_scores(approximation, problem, expected, entry);
      }
    }
  }
}

TEST_CASE("thinformer: row sums and the sums of the output are unbiased for any n; the code drops keys") {
  const UnnormalisedSums sums(7, 0.5);
  CHECK(distance(sums.mean_of([&](const Key& key) { return thinformer(sums.problem, 3, key); }), sums.exact) <=
        sums.bound());
  CHECK(sums.bound() < 0.15 * double(largest_entry_of(sums.exact)));
  // Keys 4, 5 and 6 of 7 are never seen by the code.
  const arma::mat b = thinformer(sums.problem, 4, Key(1), ThinformerOptions::code()).scores->dense();
  CHECK(b.cols(4, 6).is_zero());
  CHECK(b.cols(0, 3).min() > 0);
}

TEST_CASE_TEMPLATE("thinformer: exact for d = n; the choice does not change with the scale of V", T, float, double) {
  const Problem<T> problem = random_problem<T>(40, 4, 3, 3, Key(test_seed()).child("scale"));
  check_scores(thinformer(problem, 40, Key(1)), problem, scores_of(problem.Q(), problem.K(), Target::softmax),
               entry_error(problem));
  // The code halves all keys of a power of 4, and of 40 every second one, each with the weight of 40 / 16 others.
  const Problem<T> power = random_problem<T>(64, 4, 3, 3, Key(test_seed()).child("power"));
  check_scores(thinformer(power, 64, Key(1), ThinformerOptions::code()), power,
               scores_of(power.Q(), power.K(), Target::softmax), entry_error(power));
  const Problem<T> equal(problem.Q(), arma::zeros<arma::Mat<T>>(40, 4), problem.V());
  const auto thinned = thinformer(equal, 4, Key(1), ThinformerOptions::code()).denominators;
  REQUIRE(thinned);
  for (arma::uword i = 0; i < 40; ++i) {
    CHECK(static_cast<double>(thinned->values(i) * std::exp(thinned->log_scale(i))) == doctest::Approx(40));
  }
  const Problem<T> scaled(problem.Q(), problem.K(), T(1024) * problem.V());
  CHECK(
      identical(arma::Mat<T>(T(1024) * thinformer(problem, 16, Key(1)).output), thinformer(scaled, 16, Key(1)).output));
}

TEST_CASE_TEMPLATE("thinformer: equal keys with equal values are exact; V = 0, padding, large norms, refusals", T,
                   float, double) {
  const Problem<T> far = random_problem<T>(30, 4, 2, 100, Key(test_seed()).child("far"));
  // Two tokens that take turns: pairs hold both, and any choice in which both are left has their values.
  const Problem<T> one(far.Q(), arma::repmat(far.K().row(0), 30, 1), arma::repmat(far.V().row(0), 30, 1));
  for (const ThinformerOptions& options : {ThinformerOptions{}, ThinformerOptions::code()}) {
    CHECK(distance(thinformer(one, 5, Key(1), options).output, one.V()) <= 100 * unit<T>() * 10);
    check_edges<T>("thinformer",
                   [&](const Problem<T>& p, arma::uword d, const Key& key) { return thinformer(p, d, key, options); });
  }
  CHECK(contains(refusal([&] { thinformer(far, 3, Key(1), {.delta = 0}); }), "0 < delta <= 1"));
}
