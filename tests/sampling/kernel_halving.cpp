#include <doctest/doctest.h>
#include <croquis/sampling/kernel_halving.hpp>

#include <cmath>
#include <croquis/random/draws.hpp>
#include <numeric>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

std::vector<std::uint32_t> tokens_up_to(arma::uword n) {
  std::vector<std::uint32_t> tokens(n);
  std::iota(tokens.begin(), tokens.end(), 0U);
  return tokens;
}

long double largest_exponent(const Dense& k) {
  return std::pow(static_cast<long double>(largest_row(k)), 2) / std::sqrt(static_cast<long double>(k.cols));
}

// h by its definition, over e^largest_exponent.
Dense token_kernel_of(const Dense& k, const Dense& v, long double constant) {
  const long double root = std::sqrt(static_cast<long double>(k.cols)), largest = std::max(largest_entry_of(v), 1e-30L);
  const long double shift = largest_exponent(k);
  const Dense keys = k * transposed(k), values = v * transposed(v);
  Dense h(k.rows, k.rows);
  for (std::size_t e = 0; e < h.entries.size(); ++e) {
    h.entries[e] = std::exp(keys.entries[e] / root - shift) * (values.entries[e] / (largest * largest) + constant);
  }
  return h;
}

// KH-Compress of n = 4^k tokens to 2^g sqrt(n) as the authors' code has it: matrices of differences of pairs, groups of
// 4^(g+1) that double, the first pair as it stands and one coin for the group, with which its numbers turn.
arma::uvec compressed_as_code(const Dense& h, arma::uword k, arma::uword g, double delta, const Key& draw_key) {
  const arma::uword n = h.rows, rounds = k - g;
  std::vector<arma::uword> left(n);
  std::iota(left.begin(), left.end(), arma::uword(0));
  arma::uword size = arma::uword(1) << (2 * g + 2);
  const long double probability = delta / static_cast<double>(size) / double(rounds) / double(n);
  for (arma::uword r = 0; r < rounds; ++r, size *= 2) {
    std::vector<arma::uword> next;
    for (arma::uword group = 0; group * size < left.size(); ++group) {
      const auto at = [&](arma::uword i) { return left[group * size + i]; };
      const arma::uword pairs = size / 2;
      Dense difference(pairs, pairs);
      for (arma::uword a = 0; a < pairs; ++a) {
        for (arma::uword b = 0; b < pairs; ++b) {
          difference(a, b) = h(at(2 * a), at(2 * b)) - h(at(2 * a + 1), at(2 * b)) - h(at(2 * a), at(2 * b + 1)) +
                             h(at(2 * a + 1), at(2 * b + 1));
        }
      }
      const long double s = static_cast<long double>(size), multiplier = 0.5L + std::log(2 * s / (probability * s * s));
      const Key numbers = draw_key.child(r).child(group);
      const bool coin = uniform_at(numbers, 0) < 0.5;
      std::vector<long double> sum(pairs);
      for (arma::uword b = 0; b < pairs; ++b) sum[b] = difference(0, b);
      std::vector<bool> swapped(pairs, false);
      long double largest = std::sqrt(difference(0, 0));
      for (arma::uword a = 1; a < pairs; ++a) {
        const long double norm = std::sqrt(difference(a, a));
        largest = std::max(largest, norm);
        const long double number = (coin ? -1 : 1) * (2 * static_cast<long double>(uniform_at(numbers, a)) - 1);
        swapped[a] = number * multiplier * norm * largest <= sum[a];
        for (arma::uword b = 0; b < pairs; ++b) sum[b] += (swapped[a] ? -1 : 1) * difference(a, b);
      }
      for (arma::uword a = 0; a < pairs; ++a) next.push_back(at(2 * a + (swapped[a] != coin ? 1 : 0)));
    }
    left = next;
  }
  return arma::uvec(left);
}

}  // namespace

TEST_CASE_TEMPLATE("token kernel: every entry, any constant, and values of zero", T, float, double) {
  const arma::Mat<T> k = T(2) * random_matrix<T>(9, 4, Key(1)), v = T(30) * random_matrix<T>(9, 3, Key(2));
  for (const arma::Mat<T>& values : {v, arma::Mat<T>(9, 3, arma::fill::zeros)}) {
    for (const double constant : {1.0, 0.0}) {
      const TokenKernel<T> kernel(k, values, static_cast<T>(constant));
      const Dense h = token_kernel_of(k, values, constant);
      const arma::Mat<T> block = kernel.factors({8, 0, 3}, tokens_up_to(9), 2, 6)
                                     .over(arma::Col<T>(3, arma::fill::value(static_cast<T>(largest_exponent(k)))));
      REQUIRE(arma::size(block) == arma::SizeMat(3, 6));
      double gap = 0;
      for (arma::uword j = 0; j < 6; ++j) {
        raise(gap, std::fabs(block(0, j) - h(8, j + 2)));
        raise(gap, std::fabs(block(1, j) - h(0, j + 2)));
        raise(gap, std::fabs(block(2, j) - h(3, j + 2)));
      }
      CHECK(gap <= 400 * unit<T>());  // exponents of at most 20 and sums of 4 products
    }
  }
}

TEST_CASE("signed walk: every step is told its kernel and the sum of all signs before, whatever the blocks") {
  const arma::uword n = 1300;  // more than two of 512, and a block that is not whole
  const arma::mat k = 0.5 * random_matrix(n, 3, Key(4)), v = random_matrix(n, 2, Key(5));
  const TokenKernel<double> kernel(k, v);
  const Dense h = token_kernel_of(k, v, 1);
  const auto shift = static_cast<double>(largest_exponent(k));
  for (const std::size_t step : {1U, 2U}) {
    std::vector<double> told;
    const std::vector<double> signs =
        signed_walk<double>(kernel, tokens_up_to(n), step, [&](const WalkStep<double>& at, double* sign) {
          for (std::size_t a = 0; a < step; ++a) {
            told.push_back(at.along(a) * std::exp((at.own + at.most) / 2 - shift));
            CHECK(std::fabs(at.inner(a, step - 1) * std::exp(at.own - shift) -
                            double(h(at.first + a, at.first + step - 1))) <= 1e-13);
            sign[a] = (at.first + a) % 3 == 0 ? -1 : 0.5;
          }
        });
    double gap = 0;
    for (arma::uword i = 0; i < n; ++i) {
      CHECK(signs[i] == (i % 3 == 0 ? -1 : 0.5));
      long double sum = 0;
      for (arma::uword j = 0; j < i / step * step; ++j) sum += static_cast<long double>(signs[j]) * h(i, j);
      raise(gap, std::fabs(told[i] - sum));
    }
    CHECK(gap <= 1e-10);
  }
  CHECK(contains(refusal([&] { signed_walk<double>(kernel, tokens_up_to(3), 2, {}); }), "tokens in whole steps"));
}

TEST_CASE("kernel halving: rounds and groups are those of Compress for powers of 4") {
  for (arma::uword k = 2; k <= 6; ++k) {
    for (arma::uword g = 0; g < k; ++g) {
      const arma::uword n = arma::uword(1) << (2 * k), d = arma::uword(1) << (k + g);
      const std::vector<HalvingRound> rounds = halving_rounds(n, d);
      REQUIRE(rounds.size() == k - g);
      arma::uword left = n, size = arma::uword(1) << (2 * g + 2);
      for (const HalvingRound& round : rounds) {
        CHECK(round.tokens == left);
        CHECK(round.pairs == left / 2);
        CHECK(round.groups == left / size);
        left /= 2;
        size *= 2;
      }
      CHECK(left == d);
    }
  }
  CHECK(halving_rounds(17, 17).empty());
}

TEST_CASE("kernel halving: for powers of 4, what the authors' code leaves, token by token") {
  const Key draw_key = Key(test_seed()).child("code");
  for (const auto& [k, g] : {std::pair<arma::uword, arma::uword>{3, 0}, {3, 1}, {3, 2}, {4, 1}}) {
    const arma::uword n = arma::uword(1) << (2 * k);
    const arma::mat keys = random_matrix(n, 4, draw_key.child(k)), v = random_matrix(n, 2, draw_key.child(g));
    for (std::uint64_t draw = 0; draw < 10; ++draw) {
      const WeightedTokens found = kh_compress(TokenKernel<double>(keys, v), tokens_up_to(n), arma::uword(1) << (k + g),
                                               0.5, draw_key.child(draw));
      CHECK(identical(found.tokens, compressed_as_code(token_kernel_of(keys, v, 1), k, g, 0.5, draw_key.child(draw))));
      CHECK(found.weights.min() == found.weights.max());
    }
  }
}

TEST_CASE("kernel halving: d tokens in order, whose weights have the sum n, for all n and d") {
  const TokenKernel<double> kernel(random_matrix(23, 3, Key(1)), random_matrix(23, 2, Key(2)));
  for (arma::uword n = 1; n <= 23; ++n) {
    for (arma::uword d = 1; d <= n; ++d) {
      CAPTURE(n);
      CAPTURE(d);
      const WeightedTokens found = kh_compress(kernel, tokens_up_to(n), d, 0.5, Key(test_seed()).child(n).child(d));
      REQUIRE(found.tokens.n_elem == d);
      CHECK(arma::accu(found.weights) == double(n));
      CHECK(found.tokens.is_sorted("strictascend"));
      CHECK(found.tokens.max() < n);
      // Powers of two but for the one of those that had no partner.
      arma::uword others = 0;
      for (const double w : found.weights) others += std::exp2(std::floor(std::log2(w))) == w ? 0 : 1;
      CHECK(others <= 1);
      CHECK(std::isfinite(halving_entries(n, d)));
    }
  }
  CHECK(contains(refusal([&] { halving_rounds(5, 6); }), "got d = 6, n = 5"));
  CHECK(contains(refusal([&] { halving_rounds(5, 0); }), "got d = 0"));
}

TEST_CASE("kernel halving: the weight of every token has mean 1, also of odd tokens and of those that wait") {
  const ThreadCount one(1);  // many small draws
  constexpr std::uint64_t draws = 12000;
  struct Size {
    arma::uword n, d;
    double largest;
  };
  const std::vector<Size> sizes = {{7, 2, 4}, {7, 3, 4}, {11, 1, 11}, {13, 9, 2}};
  for (const Size& size : sizes) {
    // Norms that are far apart: those of the short keys underflow to nothing beside the long one.
    arma::mat k = random_matrix(size.n, 2, Key(3));
    k.row(1) *= 40;
    const TokenKernel<double> kernel(k, random_matrix(size.n, 2, Key(4)));
    arma::vec mean(size.n, arma::fill::zeros);
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const Key draw_key = Key(test_seed()).child("mean").child(size.n * 100 + size.d).child(draw);
      const WeightedTokens found = kh_compress(kernel, tokens_up_to(size.n), size.d, 0.5, draw_key);
      mean.elem(found.tokens) += found.weights / double(draws);
      CHECK(found.weights.max() <= size.largest);
    }
    // Weights are in [0, largest]; Hoeffding, with kFailure over all tokens of all sizes.
    const double bound = size.largest * std::sqrt(std::log(2 * 38 / kFailure) / (2 * double(draws)));
    CHECK(largest_entry_of(mean - 1) <= bound);
    CHECK(bound < 0.5);
  }
}

TEST_CASE("kernel halving: two kinds of tokens that alternate are left in equal numbers, up to a logarithm") {
  // Pairs hold one of each kind, in random order, so all f are one vector but for their sign, and |S| is never above
  // a / ||f||^2 + 1: there the sign is forced. Fair signs would have a standard deviation of 20.
  const arma::uword pairs = 400;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const Key draw_key = Key(test_seed()).child("kinds").child(draw);
    arma::mat k(2 * pairs, 1, arma::fill::zeros);
    for (arma::uword j = 0; j < pairs; ++j) k(2 * j + (uniform_at(draw_key.child("order"), j) < 0.5 ? 0 : 1), 0) = 1;
    const TokenKernel<double> kernel(k, arma::mat(2 * pairs, 1, arma::fill::zeros));
    const WeightedTokens found = kh_compress(kernel, tokens_up_to(2 * pairs), pairs, 0.5, draw_key);
    const double ones = arma::accu(k.elem(found.tokens)), steps = 2 * ones - double(pairs);
    CHECK(std::fabs(steps) <= 0.5 + std::log(8.0 * pairs * pairs / (0.5 * 2 * pairs)) + 1);
  }
}

TEST_CASE("kernel halving: a key so long that all others underflow beside it changes nothing before it") {
  const arma::uword pairs = 200;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const Key draw_key = Key(test_seed()).child("long").child(draw);
    arma::fmat k(2 * pairs, 1, arma::fill::zeros);
    for (arma::uword j = 0; j < pairs; ++j) k(2 * j + (uniform_at(draw_key.child("order"), j) < 0.5 ? 0 : 1), 0) = 1;
    const arma::fmat v(2 * pairs, 1, arma::fill::zeros);
    arma::fmat with_long = k;
    with_long(2 * pairs - 1, 0) = -40;  // e^1600
    const WeightedTokens usual = kh_compress(TokenKernel<float>(k, v), tokens_up_to(2 * pairs), pairs, 0.5, draw_key),
                         found = kh_compress(TokenKernel<float>(with_long, v), tokens_up_to(2 * pairs), pairs, 0.5,
                                             draw_key);
    CHECK(arma::all(usual.tokens.head(pairs - 1) == found.tokens.head(pairs - 1)));
  }
}

TEST_CASE("kernel halving: the entries that are counted are those of the blocks of every group") {
  const auto walked = [](arma::uword tokens) {
    double entries = 0;
    for (arma::uword a = 0; a < tokens; ++a) entries += double(std::min(tokens, (a / 64 + 1) * 64));
    return entries;
  };
  for (const auto& [n, d] : {std::pair<arma::uword, arma::uword>{1024, 64}, {1000, 100}, {777, 500}, {50, 1}}) {
    double entries = 0;
    for (const HalvingRound& round : halving_rounds(n, d)) {
      for (arma::uword g = 0; g < round.groups; ++g) {
        entries += walked(2 * (round.pairs * (g + 1) / round.groups - round.pairs * g / round.groups));
      }
    }
    CHECK(halving_entries(n, d) == entries);
  }
  CHECK(halving_entries(9, 9) == 0);
}

TEST_CASE("kernel halving: of no tokens there is nothing to halve, and a token or a delta that is none is refused") {
  const GroupHalving first_half = [](const std::vector<std::uint32_t>& group, const Key&) {
    return std::vector<std::uint32_t>(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2));
  };
  CHECK(refusal([&] { halve_in_rounds({}, {}, first_half, Key(1)); }) == "halve_in_rounds: one token at least");
  const TokenKernel<double> kernel(random_matrix(5, 2, Key(1)), random_matrix(5, 2, Key(2)));
  for (const double delta : {0.0, -1.0, 1.5, std::nan("")}) {
    CHECK(contains(refusal([&] { kh_compress(kernel, {0, 1, 2, 3, 4}, 2, delta, Key(1)); }), "0 < delta <= 1"));
  }
  CHECK(refusal([&] {
          kh_compress(kernel, {0, 5, 1}, 2, 0.5, Key(1));
        }) == "kh_compress: tokens of the kernel, got token = 5, tokens = 5");
  CHECK(halve_in_rounds({3}, {}, first_half, Key(1)).tokens(0) == 3);
}
