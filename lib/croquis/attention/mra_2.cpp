#include <algorithm>
#include <cmath>
#include <croquis/attention/mra_2.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/products.hpp>
#include <limits>
#include <memory>
#include <utility>

namespace croquis {
namespace {

using ChooseBlocks = Mra2Options::Choose;
using RestOfBlocks = Mra2Options::Rest;

// `length` tokens in blocks of b, the last one perhaps shorter.
struct TokenBlocks {
  arma::uword length, b;
  arma::uword count() const { return blocks_of(length, b); }
  arma::uword first(arma::uword block) const { return block * b; }
  arma::uword end(arma::uword block) const { return std::min(length, (block + 1) * b); }
  arma::uword size(arma::uword block) const { return end(block) - first(block); }
};

// Sums of the rows of every block.
template <typename T>
arma::Mat<T> block_sums(const arma::Mat<T>& x, const TokenBlocks& blocks) {
  arma::Mat<T> sums(blocks.count(), x.n_cols);
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    for (arma::uword s = 0; s < blocks.count(); ++s) {
      T sum = 0;
      for (arma::uword i = blocks.first(s); i < blocks.end(s); ++i) sum += x(i, c);
      sums(s, c) = sum;
    }
  }
  return sums;
}

template <typename T>
arma::Mat<T> block_means(const arma::Mat<T>& x, const TokenBlocks& blocks) {
  arma::Mat<T> means = block_sums(x, blocks);
  for (arma::uword s = 0; s < blocks.count(); ++s) means.row(s) /= static_cast<T>(blocks.size(s));
  return means;
}

// What becomes of a block of scores.
enum class BlockFate : unsigned char { coarse, refined, masked };

struct BlockGrid {
  TokenBlocks queries, keys;
  std::vector<BlockFate> fate;  // row of blocks r, column of blocks c: r keys.count() + c
  BlockFate& at(arma::uword r, arma::uword c) { return fate[r * keys.count() + c]; }
  BlockFate at(arma::uword r, arma::uword c) const { return fate[r * keys.count() + c]; }
};

// Which blocks are refined. `logits` are the mean logits, a row of blocks a column.
template <typename T>
BlockGrid refined_grid(const Problem<T>& problem, arma::uword d, const Mra2Options& options, const arma::Mat<T>& logits,
                       const Pattern& pattern) {
  const TokenBlocks queries{problem.n_q(), options.block}, keys{problem.n_k(), options.block};
  BlockGrid grid{queries, keys, std::vector<BlockFate>(queries.count() * keys.count(), BlockFate::coarse)};
  struct Candidate {
    T weight;
    std::uint32_t r, c;
    int priors;  // of the first rows, the first columns and the band, how many it is in
  };
  std::vector<Candidate> candidates;
  candidates.reserve(grid.fate.size());
  arma::uword pairs = 0;
  for (arma::uword r = 0; r < queries.count(); ++r) {
    const arma::uword sees_first = pattern.visible(queries.first(r)), sees_last = pattern.visible(queries.end(r) - 1);
    T top = std::numeric_limits<T>::lowest();
    arma::uword best = 0;
    bool meets = false;
    for (arma::uword c = 0; c < keys.count(); ++c) {
      if (keys.first(c) >= sees_last) {
        grid.at(r, c) = BlockFate::masked;
      } else if (keys.end(c) > sees_first) {  // some pairs are masked
        grid.at(r, c) = BlockFate::refined;
        meets = meets || keys.first(c) < sees_first;  // the first query of the row attends to a key of it
        for (arma::uword i = queries.first(r); i < queries.end(r); ++i) {
          const arma::uword end = std::min(keys.end(c), pattern.visible(i));
          pairs += end > keys.first(c) ? end - keys.first(c) : 0;
        }
      } else if (logits(c, r) > top) {
        top = logits(c, r);
        best = c;
      }
    }
    if (options.rest == RestOfBlocks::none && !meets && grid.at(r, best) == BlockFate::coarse) {
      grid.at(r, best) = BlockFate::refined;
      pairs += queries.size(r) * keys.size(best);
    }
    for (arma::uword c = 0; c < keys.count(); ++c) {
      if (grid.at(r, c) != BlockFate::coarse) continue;
      const T weight = options.choose == ChooseBlocks::by_row ? logits(c, r) - top : logits(c, r);
      const arma::uword own = pattern.own(queries.first(r)) / options.block, away = c > own ? c - own : own - c;
      const bool in_band = options.diagonal > 0 && away <= options.diagonal / 2;
      const int priors = int(r < options.first) + int(c < options.first) + int(in_band);
      candidates.push_back({weight, static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(c), priors});
    }
  }
  // Of equals, the first in the order of rows. (A stable sort would need half of their memory once more.)
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    if (x.priors != y.priors) return x.priors > y.priors;
    if (x.weight != y.weight) return x.weight > y.weight;
    return x.r != y.r ? x.r < y.r : x.c < y.c;
  });
  for (const Candidate& candidate : candidates) {
    pairs += queries.size(candidate.r) * keys.size(candidate.c);
    if (pairs > d * problem.n_q()) break;
    grid.at(candidate.r, candidate.c) = BlockFate::refined;
  }
  return grid;
}

// B~ = F + diag(rho) E G E'^T: F the exact entries, G the coarse weights of a row of blocks relative to its largest, E
// and E' the blocks that tokens are in.
template <typename T>
struct TwoResolutions {
  SparseColumns<T> fine;  // column i: row i of F
  arma::Mat<T> coarse;    // G^T, a row of blocks a column
  arma::Col<T> rho;
  TokenBlocks queries, keys;

  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    arma::Mat<T> y = fine.transposed_times(x);
    const arma::Mat<T> sums = product_tn(coarse, block_sums(x, keys));
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      for (arma::uword i = 0; i < y.n_rows; ++i) y(i, c) += rho(i) * sums(i / queries.b, c);
    }
    return y;
  }

  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const {
    arma::Mat<T> y = fine.times(x);
    const arma::Mat<T> sums = product(coarse, block_sums<T>(x.each_col() % rho, queries));
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      for (arma::uword j = 0; j < y.n_rows; ++j) y(j, c) += sums(j / keys.b, c);
    }
    return y;
  }
};

template <typename T>
Pattern refined_pattern(const Problem<T>& problem, const BlockGrid& grid) {
  Pattern pattern(problem);
  std::vector<std::uint32_t> keys;
  for (arma::uword i = 0; i < problem.n_q(); ++i) {
    keys.clear();
    for (arma::uword c = 0; c < grid.keys.count(); ++c) {
      if (grid.at(i / grid.queries.b, c) != BlockFate::refined) continue;
      for (arma::uword j = grid.keys.first(c); j < grid.keys.end(c); ++j) keys.push_back(static_cast<std::uint32_t>(j));
    }
    pattern.add(keys);
  }
  return pattern;
}

const Options<Mra2Options>& options_of_mra_2() {
  using O = Mra2Options;
  static const Options<O> options =
      Options<O>()
          .preset("code: choose=by-row", {{"paper", {}}, {"code", {.choose = ChooseBlocks::by_row}}})
          .count("block", &O::block, 1, 1000000, "tokens a block")
          .choice("choose", &O::choose,
                  Choices<ChooseBlocks>{{"global", ChooseBlocks::global}, {"by-row", ChooseBlocks::by_row}},
                  "blocks by their mean logit, or by that less the largest of their row of blocks")
          .choice("rest", &O::rest, Choices<RestOfBlocks>{{"means", RestOfBlocks::means}, {"none", RestOfBlocks::none}},
                  "blocks that are not refined: exp of their mean logit (MRA-2), or nothing (MRA-2-s)")
          .count("first", &O::first, 0, 1000000, "rows and columns of blocks at the beginning that are refined first")
          .count("diagonal", &O::diagonal, 0, 1000000, "blocks about the query's own that are refined first");
  return options;
}

}  // namespace
template <typename T>
Approximation<T> mra_2(const Problem<T>& problem, arma::uword d, const Mra2Options& options) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "mra-2", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  require(options.block >= 1, "mra-2", "block >= 1", {{"block", options.block}});
  const TokenBlocks queries{n_q, options.block}, keys{n_k, options.block};
  arma::Mat<T> logits = scores_transposed(block_means(problem.Q(), queries), block_means(problem.K(), keys));
  const BlockGrid grid = refined_grid(problem, d, options, logits, Pattern(problem));
  const Pattern pattern = refined_pattern(problem, grid);
  if (options.rest == RestOfBlocks::none) return sparse_softmax(problem.Q(), problem.K(), problem, pattern);

  PatternWeights<T> weights = pattern_weights(problem.Q(), problem.K(), pattern);
  const auto scores = std::make_shared<TwoResolutions<T>>(
      TwoResolutions<T>{std::move(weights.rows), std::move(logits), arma::Col<T>(n_q), queries, keys});
  for (arma::uword r = 0; r < queries.count(); ++r) {
    T* row = scores->coarse.colptr(r);
    constexpr T nothing = -std::numeric_limits<T>::infinity();
    T top = nothing, mass = 0;
    arma::uword first_refined = n_k;
    for (arma::uword c = keys.count(); c-- > 0;) {
      if (grid.at(r, c) == BlockFate::refined) first_refined = keys.first(c);
      if (grid.at(r, c) == BlockFate::coarse) top = std::max(top, row[c]);
    }
    for (arma::uword c = 0; c < keys.count(); ++c) {
      row[c] = grid.at(r, c) == BlockFate::coarse ? std::exp(row[c] - top) : T(0);
      mass += row[c] * static_cast<T>(keys.size(c));
    }
    for (arma::uword i = queries.first(r); i < queries.end(r); ++i) {
      // A query that meets no key of a refined block has been given its own, which is in a coarse one.
      const T fine_top = first_refined < pattern.visible(i) ? weights.top(i) : nothing, shift = std::max(fine_top, top);
      const T fine = std::exp(fine_top - shift), coarse = mass > 0 ? std::exp(top - shift) : T(0);
      const T sum = fine * weights.sums(i) + coarse * mass;
      for (std::size_t e = scores->fine.start[i]; e < scores->fine.start[i + 1]; ++e) {
        scores->fine.value[e] *= fine / sum;
      }
      scores->rho(i) = coarse / sum;
      weights.sums(i) = sum;
      weights.top(i) = shift;
    }
  }
  Approximation<T> approximation = from_scores(operator_of<T>(n_q, n_k, scores), problem);
  approximation.denominators = Denominators<T>{std::move(weights.sums), std::move(weights.top)};
  return approximation;
}

template <typename T>
Method<T> mra_2_method() {
  Method<T> method;
  method.name = "mra-2";
  method.summary = "blocks of scores by their mean, the largest ones exactly; d keys a query exactly";
  method.source = "Zeng et al. 2022, MRA";
  method.causal = true;
  method.random = always(false);
  method.options = options_of_mra_2().infos();
  method.rectangular = method.rows_sum_to_one = always(true);
  method.exact_on_equal_tokens = [](const OptionValues& values) {
    return options_of_mra_2().read(values).rest == RestOfBlocks::means;
  };
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const Mra2Options options = options_of_mra_2().read(values);
    const auto n_q = static_cast<double>(problem.n_q()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v()), b = static_cast<double>(options.block);
    const double blocks = std::ceil(n_q / b) * std::ceil(static_cast<double>(problem.n_k()) / b);
    const double all = most_visits(problem, static_cast<double>(problem.n_k()));
    // What is refined whatever d is: blocks with masked pairs, or one in every row of blocks.
    const double least = problem.is_causal()                  ? most_visits(problem, (b + 1) / 2)
                         : options.rest == RestOfBlocks::none ? most_visits(problem, b)
                                                              : 0;
    return {[=](arma::uword d, const Key&) { return mra_2(problem, d, options); },
            [=](double d) {
              const double pairs = std::clamp(n_q * d, least, all);
              return pairs * pair_flops(p, p_v) +
                     blocks * (2 * p + (options.rest == RestOfBlocks::means ? 2 * p_v : 0));
            }};
  };
  return method;
}

template Approximation<float> mra_2(const Problem<float>&, arma::uword, const Mra2Options&);
template Approximation<double> mra_2(const Problem<double>&, arma::uword, const Mra2Options&);
template Method<float> mra_2_method();
template Method<double> mra_2_method();

}  // namespace croquis
