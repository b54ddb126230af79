#include <doctest/doctest.h>
#include <croquis/sampling/balancing_walk.hpp>

#include <cmath>
#include <croquis/random/draws.hpp>
#include <numeric>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

std::vector<std::uint32_t> first_tokens(arma::uword n) {
  std::vector<std::uint32_t> tokens(n);
  std::iota(tokens.begin(), tokens.end(), 0U);
  return tokens;
}

}  // namespace

TEST_CASE("balancing walk: two tokens of two have opposite signs, and the second token of four its probability") {
  // One kind of token: h = 1, so S = s_1 and the second sign is that of the first with probability 1/2 - gamma.
  const ThreadCount one(1);  // many small draws
  const arma::mat same(4, 1, arma::fill::ones);
  const TokenKernel<double> kernel(same, 0 * same);
  constexpr std::uint64_t draws = 4000;
  const double parts = 4;
  for (const double gamma : {0.0, 0.2, 0.5, 3.0}) {
    double together = 0, first = 0;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const Key draw_key = Key(test_seed()).child("law").child(draw);
      const WeightedTokens left = balanced_halves(kernel, first_tokens(4), 2, {.gamma = gamma, .block = 4}, draw_key);
      REQUIRE(left.tokens.n_elem == 2);
      const bool has_0 = left.tokens(0) == 0, has_1 = left.tokens(0) == 1 || left.tokens(1) == 1;
      together += has_0 == has_1 ? 1 : 0;
      first += has_0 ? 1 : 0;
    }
    const double probability = std::max(0.0, 0.5 - gamma);
    CHECK(is_binomial(first, double(draws), 0.5, kFailure / (2 * parts)));
    CHECK(is_binomial(together, double(draws), probability, kFailure / (2 * parts)));
  }
  const WeightedTokens pair = balanced_halves(kernel, first_tokens(2), 1, {}, Key(1));
  CHECK(pair.tokens.n_elem == 1);
  CHECK(pair.weights(0) == 2);
}

TEST_CASE("balancing walk: a smaller token's sign by its kernel with the first, over the largest so far") {
  // k = 1.2 and 0.6: h(0, 0) = e^1.44 is the largest, h(0, 1) = e^0.72, so the signs agree with 1/2 - gamma e^-0.72.
  const ThreadCount one(1);
  const arma::mat keys = {1.2, 0.6, 0.6, 0.6};
  const TokenKernel<double> kernel(keys.t(), arma::mat(4, 1, arma::fill::zeros));
  constexpr std::uint64_t draws = 4000;
  double together = 0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const Key draw_key = Key(test_seed()).child("smaller").child(draw);
    const arma::uvec left = balanced_halves(kernel, first_tokens(4), 2, {.gamma = 0.5, .block = 4}, draw_key).tokens;
    together += arma::any(left == 0) == arma::any(left == 1) ? 1 : 0;
  }
  CHECK(is_binomial(together, double(draws), 0.5 - 0.5 * std::exp(-0.72), kFailure));
}

TEST_CASE("balancing walk: a token's sign has mean 0 and its weight mean 1, for odd numbers and blocks too") {
  const ThreadCount one(1);  // many small draws
  constexpr std::uint64_t draws = 8000;
  struct Size {
    arma::uword n, d, block;
    double largest;
  };
  const std::vector<Size> sizes = {{10, 5, 64, 2}, {11, 3, 4, 4}, {13, 9, 2, 2}, {9, 1, 6, 9}};
  for (const Size& size : sizes) {
    const arma::mat k = random_matrix(size.n, 2, Key(3)), v = random_matrix(size.n, 2, Key(4));
    const TokenKernel<double> kernel(k, v);
    for (const double gamma : {0.5, 1e6}) {
      arma::vec mean(size.n, arma::fill::zeros);
      for (std::uint64_t draw = 0; draw < draws; ++draw) {
        const Key draw_key = Key(test_seed()).child("mean").child(size.n).child(draw);
        const WeightedTokens left =
            balanced_halves(kernel, first_tokens(size.n), size.d, {.gamma = gamma, .block = size.block}, draw_key);
        mean.elem(left.tokens) += left.weights / double(draws);
        CHECK(left.weights.max() <= size.largest);
      }
      // Weights are in [0, largest]; Hoeffding, with kFailure over the 2 (10 + 11 + 13 + 9) means.
      const double bound = size.largest * std::sqrt(std::log(2 * 86 / kFailure) / (2 * double(draws)));
      CHECK(largest_entry_of(mean - 1) <= bound);
      CHECK(bound < 0.4);
    }
  }
}

TEST_CASE("balancing walk: d tokens in order, whose weights have the sum n, for all n, d and blocks") {
  const TokenKernel<double> kernel(random_matrix(19, 3, Key(1)), random_matrix(19, 2, Key(2)));
  for (arma::uword n = 1; n <= 19; ++n) {
    for (arma::uword d = 1; d <= n; ++d) {
      for (const arma::uword block : {2U, 6U, 128U}) {
        const WeightedTokens left =
            balanced_halves(kernel, first_tokens(n), d, {.block = block}, Key(test_seed()).child(n).child(d));
        REQUIRE(left.tokens.n_elem == d);
        CHECK(arma::accu(left.weights) == double(n));
        CHECK(left.tokens.is_sorted("strictascend"));
        CHECK(left.tokens.max() < n);
      }
    }
  }
  CHECK(contains(refusal([&] { balancing_rounds(9, 3, 5); }), "an even number of tokens in a block, got block = 5"));
  CHECK(contains(refusal([&] { balancing_rounds(9, 3, 0); }), "got block = 0"));
  CHECK(contains(refusal([&] { balanced_halves(kernel, first_tokens(9), 3, {.gamma = -1}, Key(1)); }), "gamma >= 0"));
  CHECK(contains(refusal([&] { balanced_halves(kernel, first_tokens(9), 3, {.gamma = HUGE_VAL}, Key(1)); }), "finite"));
  const auto beyond = static_cast<std::uint32_t>(kernel.size());
  CHECK(contains(refusal([&] {
                   balanced_halves(kernel, {0, beyond, 1}, 2, {}, Key(1));
                 }),
                 "balanced_halves: tokens of the kernel, got token = "));
}

TEST_CASE(
    "balancing walk: two kinds of tokens are left in equal numbers, up to a few, where fair signs are off by 10") {
  // Orthogonal tokens: k = (4, 0) and (0, 4), v = 0, so h(j, j) = 1 and h between kinds is below 1e-4. With gamma = 1/2
  // a sign is forced once its kind is out of balance by 1, so of 800 tokens a kind is off by 1, and by what is forced
  // in the end, when one sign has half: no more than the other kind was off, 1.
  constexpr arma::uword n = 800;
  double fair = 0;
  for (std::uint64_t draw = 0; draw < 10; ++draw) {
    const Key draw_key = Key(test_seed()).child("kinds").child(draw);
    arma::mat k(n, 2, arma::fill::zeros);
    for (arma::uword j = 0; j < n; ++j) k(j, uniform_at(draw_key.child("order"), j) < 0.5 ? 0 : 1) = 4;
    const TokenKernel<double> kernel(k, arma::mat(n, 1, arma::fill::zeros));
    for (const double gamma : {0.5, 0.0}) {
      const WeightedTokens left =
          balanced_halves(kernel, first_tokens(n), n / 2, {.gamma = gamma, .block = n}, draw_key);
      const arma::vec kind = k.col(0) / 4;
      const double off = std::fabs(2 * arma::accu(kind.elem(left.tokens)) - arma::accu(kind));
      if (gamma > 0) CHECK(off <= 2);
      if (gamma == 0) fair = std::max(fair, off);
    }
  }
  CHECK(fair > 4);
}

TEST_CASE("balancing walk: a key so long that all others underflow beside it changes no sign before it") {
  // Of two kinds again. The last key gets what is left of one sign, so the others are off by 1 more at most.
  constexpr arma::uword n = 400;
  for (std::uint64_t draw = 0; draw < 10; ++draw) {
    const Key draw_key = Key(test_seed()).child("long").child(draw);
    arma::fmat k(n, 2, arma::fill::zeros);
    for (arma::uword j = 0; j < n; ++j) k(j, uniform_at(draw_key.child("order"), j) < 0.5 ? 0 : 1) = 4;
    k.row(n - 1) = arma::frowvec{-60, 0};
    const TokenKernel<float> kernel(k, arma::fmat(n, 1, arma::fill::zeros));
    const WeightedTokens left = balanced_halves(kernel, first_tokens(n), n / 2, {.gamma = 0.5, .block = n}, draw_key);
    double off = 0;
    for (arma::uword j = 0; j + 1 < n; ++j) off -= k(j, 0) > 0 ? 1 : 0;
    for (const arma::uword j : left.tokens) off += k(j, 0) > 0 ? 2 : 0;
    CHECK(std::fabs(off) <= 3);
  }
}

TEST_CASE("balancing walk: the entries that are counted are those of the blocks, fewer than n (block + 64)") {
  for (const auto& [n, d, block] :
       {std::tuple<arma::uword, arma::uword, arma::uword>{1000, 100, 128}, {777, 500, 50}, {50, 1, 200}, {64, 64, 8}}) {
    double entries = 0;
    arma::uword left = n, whole = n;
    while (left > d) {
      const bool all = (left + 1) / 2 >= d;
      const arma::uword pairs = all ? whole / 2 : left - d, groups = (2 * pairs + block - 1) / block;
      for (arma::uword g = 0; g < groups; ++g) {
        const arma::uword tokens = 2 * (pairs * (g + 1) / groups - pairs * g / groups);
        CHECK(tokens <= block);
        for (arma::uword a = 0; a < tokens; ++a) entries += double(std::min(tokens, (a / 64 + 1) * 64));
      }
      whole /= 2;
      left = all ? (left + 1) / 2 : d;
    }
    CHECK(halving_entries(balancing_rounds(n, d, block)) == entries);
    CHECK(entries < double(n * (block + 64)));
  }
}
