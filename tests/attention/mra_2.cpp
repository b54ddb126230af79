#include <croquis/attention/exact.hpp>
#include <croquis/attention/mra_2.hpp>

#include "support/masks.hpp"
#include "support/text.hpp"

using namespace croquis;
using Choose = Mra2Options::Choose;
using Rest = Mra2Options::Rest;

namespace {

struct Expected {
  Dense scores;
  long double gap = std::numeric_limits<long double>::infinity();  // between the last block taken and the next
};

struct Block {
  arma::uword r, c;
  int priors = 0;
  long double weight = 0;
  double pairs = 0;     // that are not masked
  bool masked = false;  // some are
};

// By its definition on the dense logits: a block's mean is the mean of its logits.
template <typename T>
Expected expected_scores(const Problem<T>& problem, arma::uword d, const Mra2Options& options) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const arma::uword b = options.block;
  const Dense logits = logits_of(problem.Q(), problem.K());
  const auto sees = [&](arma::uword i, arma::uword j) { return may_meet(i, j, problem.tokens(), problem.is_causal()); };
  std::vector<std::vector<int>> fine(n_q, std::vector<int>(n_k, 0));
  Dense mean(n_q, n_k);
  std::vector<Block> blocks;
  double budget = static_cast<double>(n_q) * static_cast<double>(d);
  const auto refine = [&](const Block& block) {
    budget -= block.pairs;
    for (arma::uword i = block.r; i < std::min(n_q, block.r + b); ++i) {
      for (arma::uword j = block.c; j < std::min(n_k, block.c + b); ++j) fine[i][j] = 1;
    }
  };
  for (arma::uword r = 0; r < n_q; r += b) {
    std::vector<Block> row;
    for (arma::uword c = 0; c < n_k; c += b) {
      Block block{r, c};
      long double sum = 0;
      arma::uword size = 0;
      for (arma::uword i = r; i < std::min(n_q, r + b); ++i) {
        for (arma::uword j = c; j < std::min(n_k, c + b); ++j, ++size) {
          sum += logits(i, j);
          block.pairs += sees(i, j) ? 1 : 0;
          block.masked = block.masked || !sees(i, j);
        }
      }
      block.weight = sum / static_cast<long double>(size);
      // The place of the first query's token among the keys, in blocks.
      const long long own = std::max(0LL, (long long)(r + n_k) - (long long)n_q) / (long long)b,
                      band = (long long)options.diagonal;
      block.priors = (r / b < options.first ? 1 : 0) + (c / b < options.first ? 1 : 0) +
                     (band > 0 && 2 * std::abs((long long)(c / b) - own) <= band ? 1 : 0);
      for (arma::uword i = r; i < std::min(n_q, r + b); ++i) {
        for (arma::uword j = c; j < std::min(n_k, c + b); ++j) mean(i, j) = block.weight;
      }
      if (block.masked && block.pairs > 0) refine(block);
      if (!block.masked) row.push_back(block);
    }
    std::stable_sort(row.begin(), row.end(), [](const Block& x, const Block& y) { return x.weight > y.weight; });
    const long double top = row.empty() ? 0.0L : row.front().weight;
    bool each_has_key = true;
    for (arma::uword i = r; i < std::min(n_q, r + b); ++i) {
      bool has_key = false;
      for (arma::uword j = 0; j < n_k; ++j) has_key = has_key || (sees(i, j) && fine[i][j] == 1);
      each_has_key = each_has_key && has_key;
    }
    if (options.rest == Rest::none && !each_has_key && !row.empty()) {
      refine(row.front());
      row.erase(row.begin());
    }
    for (Block& block : row) {
      if (options.choose == Choose::by_row) block.weight -= top;
      blocks.push_back(block);
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& x, const Block& y) {
    if (x.priors != y.priors) return x.priors > y.priors;
    return x.weight != y.weight ? x.weight > y.weight : std::pair(x.r, x.c) < std::pair(y.r, y.c);
  });
  Expected expected;
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    if (blocks[s].pairs > budget) {
      if (s > 0 && blocks[s - 1].priors == blocks[s].priors) expected.gap = blocks[s - 1].weight - blocks[s].weight;
      // By rows, all the largest of their rows are zero: these are exact ties, but rounding is not.
      break;
    }
    refine(blocks[s]);
  }
  Dense entries(n_q, n_k);
  for (arma::uword i = 0; i < n_q; ++i) {
    for (arma::uword j = 0; j < n_k; ++j) {
      const bool coarse = fine[i][j] == 0 && options.rest == Rest::means;
      entries(i, j) = !sees(i, j) || (fine[i][j] == 0 && !coarse) ? -std::numeric_limits<long double>::infinity()
                      : coarse                                    ? mean(i, j)
                                                                  : logits(i, j);
    }
    // A query without a key has its own.
    bool any = false;
    for (arma::uword j = 0; j < n_k; ++j) any = any || std::isfinite(entries(i, j));
    if (!any) entries(i, i + n_k - n_q) = 0;
  }
  expected.scores = softmax_of(entries);
  return expected;
}

}  // namespace

TEST_CASE_TEMPLATE("mra-2: exact entries of the blocks of largest mean, exp of the mean elsewhere, in every entry", T,
                   float, double) {
  int compared = 0, all = 0;
  for (const MaskShape& shape : mask_shapes()) {
    const Problem<T> problem = masked_problem<T>(shape, 3, Key(test_seed()).child(shape.tokens.n_q));
    for (const arma::uword block : {1U, 4U, 5U, 32U}) {
      for (const Choose choose : {Choose::global, Choose::by_row}) {
        for (const Rest rest : {Rest::means, Rest::none}) {
          for (const arma::uword d : {1U, 3U, 11U}) {
            CAPTURE(block);
            CAPTURE(d);
            const Mra2Options options = {.block = block, .choose = choose, .rest = rest};
            const Expected expected = expected_scores(problem, d, options);
            ++all;
            if (expected.gap < 20 * mask_entry_error(problem)) continue;
            ++compared;
            check_mask(mra_2(problem, d, options), problem, expected.scores, 4 * mask_entry_error(problem));
          }
        }
      }
    }
    for (const Rest rest : {Rest::means, Rest::none}) {
      check_mask(mra_2(problem, shape.tokens.n_k, {.block = 4, .rest = rest}), problem, masked_exact(problem),
                 mask_entry_error(problem));
    }
  }
  CHECK(compared > all / 2);
}

TEST_CASE_TEMPLATE("mra-2: the first blocks and a band come before all others, in every entry", T, float, double) {
  int compared = 0, all = 0;
  for (const MaskShape& shape : mask_shapes()) {
    const Problem<T> problem = masked_problem<T>(shape, 3, Key(test_seed()).child(shape.tokens.n_q));
    for (const auto& [first, diagonal] : {std::pair(1U, 0U), {0U, 1U}, {2U, 0U}, {0U, 2U}, {0U, 3U}, {1U, 5U}}) {
      for (const Rest rest : {Rest::means, Rest::none}) {
        for (const arma::uword d : {3U, 11U, 20U}) {
          if (d > shape.tokens.n_k) continue;
          const Mra2Options options = {.block = 4, .rest = rest, .first = first, .diagonal = diagonal};
          const Expected expected = expected_scores(problem, d, options);
          ++all;
          if (expected.gap < 20 * mask_entry_error(problem)) continue;
          ++compared;
          check_mask(mra_2(problem, d, options), problem, expected.scores, 4 * mask_entry_error(problem));
        }
      }
    }
  }
  CHECK(compared > all / 2);
}

TEST_CASE_TEMPLATE("mra-2: with rest=none a query whose own key ends a block attends to the best block before it", T,
                   float, double) {
  for (const arma::uword n_k : {13U, 35U}) {  // the first query of every row of blocks is such a query
    const Problem<T> problem = masked_problem<T>({{12, n_k}, true}, 1, Key(test_seed()).child("ends").child(n_k));
    const arma::Mat<T> scores = mra_2(problem, 2, {.block = 2, .rest = Rest::none}).scores->dense();
    for (arma::uword i = 0; i < 12; i += 2) {
      CAPTURE(n_k);
      CAPTURE(i);
      CHECK(arma::find(scores.row(i) > 0).eval().n_elem >= 2);
    }
  }
}

TEST_CASE("mra-2: priors are those of the code, which adds 5000 to means") {
  // 6 x 6 blocks of 2 tokens, of which d = 8 refines 24: one in every row, by its mean, and then those with priors.
  // They are 11 with first = 1, and 16 with diagonal = 3.
  const Problem<double> problem = random_problem<double>(12, 4, 2, 1, Key(test_seed()).child("priors"));
  const auto refined = [&](const Mra2Options& options) {
    const Dense b = mra_2(problem, 8, options).scores->dense();
    arma::umat blocks(6, 6);
    for (arma::uword r = 0; r < 6; ++r) {
      for (arma::uword c = 0; c < 6; ++c) blocks(r, c) = b(2 * r, 2 * c) != 0 ? 1 : 0;
    }
    return blocks;
  };
  const arma::umat corner = refined({.block = 2, .rest = Rest::none, .first = 1}),
                   band = refined({.block = 2, .rest = Rest::none, .diagonal = 3});
  for (arma::uword r = 0; r < 6; ++r) {
    CHECK(corner(r, 0) == 1);
    CHECK(corner(0, r) == 1);
    for (arma::uword c = r > 0 ? r - 1 : 0; c <= std::min<arma::uword>(5, r + 1); ++c) CHECK(band(r, c) == 1);
  }
  CHECK(arma::accu(band) == 24);
  // Of the first row and column and the diagonal, the corner is in all three, and comes before the others of them.
  const Dense b = mra_2(problem, 1, {.block = 2, .first = 1, .diagonal = 1}).scores->dense();
  const Dense logits = logits_of(problem.Q(), problem.K());
  CHECK(std::fabs(double(std::log(b(0, 0) / b(0, 1)) - (logits(0, 0) - logits(0, 1)))) <= 1e-12);  // refined
  CHECK(identical(
      method_on(problem, "mra-2", {{"block", "2"}, {"first", "1"}, {"diagonal", "3"}}).approximate(5, Key(1)).output,
      mra_2(problem, 5, {.block = 2, .first = 1, .diagonal = 3}).output));
}

TEST_CASE_TEMPLATE("mra-2: exact where tokens of a block are equal; a block that is not refined has too little weight",
                   T, float, double) {
  for (const bool causal : {false, true}) {
    const RelativePosition<T> position{.bias = {}, .causal = causal};
    const Problem<T> few = random_problem<T>(6, 5, 3, 3, Key(test_seed()).child("few"));
    const arma::uvec repeat = arma::regspace<arma::uvec>(0, 47) / 8;
    const Problem<T> equal(few.Q().rows(repeat), few.K().rows(repeat), random_matrix<T>(48, 3, Key(2)), {}, position);
    for (const arma::uword d : {1U, 8U, 20U}) {
      CHECK(distance(mra_2(equal, d, {.block = 8}).output, exact_attention(equal, Target::softmax).output) <=
            100 * mask_entry_error(equal));
    }
    const Problem<T> plain = random_problem<T>(50, 5, 3, 4, Key(test_seed()).child("jensen"));
    const Problem<T> problem(plain.Q(), plain.K(), plain.V(), {}, position);
    const arma::Col<T> exact = exact_attention(problem, Target::softmax).log_row_sums;
    const Approximation<T> approximation = mra_2(problem, 6, {.block = 4});
    double sum = 0, least = 0;
    for (arma::uword i = 0; i < 50; ++i) {
      least += static_cast<double>(approximation.denominators->values(i)) *
               std::exp(static_cast<double>(approximation.denominators->log_scale(i)));
      sum += std::exp(static_cast<double>(exact(i)));
    }
    CHECK(least <= sum * (1 + 1e-5));
    CHECK(least > 0);
  }
}

TEST_CASE_TEMPLATE("mra-2: zero scores, large norms, padding at the end of blocks", T, float, double) {
  const arma::Mat<T> zero(21, 4, arma::fill::zeros), v = random_matrix<T>(21, 2, Key(5));
  const Problem<T> still(zero, zero, v);  // all means are equal: the official code drops what is equal to the last one
  CHECK(distance(mra_2(still, 5, {.block = 4}).output, exact_attention(still, Target::softmax).output) <=
        100 * unit<T>());
  for (const Rest rest : {Rest::means, Rest::none}) {
    for (const double norm : {30.0, 300.0}) {
      const Problem<T> sharp = random_problem<T>(50, 4, 2, norm, Key(6));
      const Approximation<T> approximation = mra_2(sharp, 9, {.block = 4, .rest = rest});
      CHECK(approximation.output.is_finite());
      CHECK(row_sum_gap(approximation) <= 200 * unit<T>());
    }
  }
}

TEST_CASE("mra-2: the preset code chooses by row; flops are those of the pairs; refusals") {
  const Problem<double> problem = masked_problem<double>({{60, 60}, false}, 3, Key(3));
  CHECK(identical(method_on(problem, "mra-2", {{"preset", "code"}, {"block", "4"}}).approximate(10, Key(2)).output,
                  mra_2(problem, 10, {.block = 4, .choose = Choose::by_row}).output));
  for (const bool causal : {false, true}) {
    const Problem<double> counted = masked_problem<double>({{64, 64}, causal}, 1, Key(1));
    for (const double d : {8.0, 16.0, 64.0}) {
      const double visits = visits_of(mra_2(counted, static_cast<arma::uword>(d), {.block = 4, .rest = Rest::none}));
      const double means = 16 * 16 * 2 * 6;
      const double declared = method_on(counted, "mra-2", {{"block", "4"}, {"rest", "none"}}).flops(d);
      CHECK(visits <= 64 * d);
      CHECK(declared >= visits * 19 + means);
      CHECK(declared <= 1.1 * visits * 19 + means);
    }
  }
  CHECK(refusal([&] { mra_2(problem, 61); }) == "mra-2: 1 <= d <= n_k, got d = 61, n_k = 60");
  CHECK(contains(refusal([&] { mra_2(problem, 0); }), "got d = 0"));
  CHECK(contains(refusal([&] { mra_2(problem, 8, {.block = 0}); }), "block >= 1"));
}
