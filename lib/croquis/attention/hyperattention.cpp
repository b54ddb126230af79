#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/grouped_keys.hpp>
#include <croquis/attention/hyperattention.hpp>
#include <croquis/attention/sorted_blocks.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/random/indices.hpp>
#include <limits>

namespace croquis {
namespace {

using Values = HyperattentionOptions::Values;

// How the d keys of a query are divided.
struct Shares {
  arma::uword block, sums, values;
};

Shares shares_of(arma::uword d, const HyperattentionOptions& options) {
  if (options.values == Values::shared) return {(d + 1) / 2, d / 2, 0};
  const arma::uword block = std::max<arma::uword>(1, d / 2), sums = std::max<arma::uword>(1, d / 4);
  return {block, sums, d - block - sums};
}

template <typename T>
SortedBlocks blocks_of_draw(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const HyperattentionOptions& options) {
  require(d >= 1 && d <= problem.n_k(), "hyperattention", "1 <= d <= n_k", {{"d", d}, {"n_k", problem.n_k()}});
  require(options.values == Values::shared || d >= 3, "hyperattention", "d >= 3, a key for each of three estimates",
          {{"d", d}});
  return sorted_blocks(problem, shares_of(d, options).block, options.directions, options.order,
                       draw_key.child("directions"));
}

template <typename T>
std::vector<KeyGroup<T>> groups_of(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                   const HyperattentionOptions& options) {
  const SortedBlocks blocks = blocks_of_draw(problem, d, draw_key, options);
  const Shares shares = shares_of(d, options);
  const arma::uword n_k = problem.n_k();
  const arma::uvec sampled = sample_with_replacement(n_k, shares.sums, draw_key.child("keys"));
  const T weight = static_cast<T>(n_k) / static_cast<T>(std::max<arma::uword>(1, shares.sums));
  arma::Col<T> squares(n_k, arma::fill::ones);
  arma::uvec of_values;
  if (shares.values > 0) {
    const arma::Col<T> norms = squared_row_norms(problem.V());
    if (norms.max() > 0) squares = norms / norms.max();
    of_values = sample_weighted(squares, shares.values, draw_key.child("values"));
  }
  const T total = arma::accu(squares) / static_cast<T>(std::max<arma::uword>(1, shares.values));
  const bool shared = options.values == Values::shared;
  std::vector<KeyGroup<T>> groups(blocks.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].queries = blocks.queries[g];
    for (const std::uint32_t key : blocks.keys[g]) groups[g].add(key, shared ? T(1) : T(0), T(1));
    for (const arma::uword key : sampled) {
      if (options.masked && blocks.block_of_key[key] == g) continue;
      groups[g].add(static_cast<std::uint32_t>(key), shared ? weight : T(0), weight);
    }
    for (const arma::uword key : of_values) groups[g].add(static_cast<std::uint32_t>(key), total / squares(key), T(0));
  }
  return groups;
}

const Options<HyperattentionOptions>& options_of_hyperattention() {
  using O = HyperattentionOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: values=shared, order=transposed, masked=no", {{"paper", {}}, {"code", O::code()}})
          .choice("values", &O::values, in_order<Values>({"norm", "shared"}),
                  "keys of the output by their values' norms; or the blocks, and the keys of the row sums")
          .choice("order", &O::order, in_order<BucketOrder>({"gray", "transposed"}),
                  "buckets so that neighbours differ in one half-space; or as the code sorts them")
          .flag("masked", &O::masked, "sampled keys of the block are left out; no: they count twice, as in the code")
          .count("directions", &O::directions, 1, 30, "half-spaces of the hash");
  return options;
}

}  // namespace

template <typename T>
Approximation<T> hyperattention(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                const HyperattentionOptions& options) {
  if (d == problem.n_k()) return from_scores(exact_scores(problem, Target::softmax), problem);
  return grouped_attention(problem, groups_of(problem, d, draw_key, options), "hyperattention");
}

template <typename T>
HyperattentionCondition hyperattention_condition(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                                 const HyperattentionOptions& options) {
  const SortedBlocks blocks = blocks_of_draw(problem, d, draw_key, options);
  arma::vec squares(problem.n_k(), arma::fill::zeros);
  double largest = -std::numeric_limits<double>::infinity(), smallest = -largest;
  for (std::size_t g = 0; g < blocks.size(); ++g) {
    if (blocks.queries[g].empty()) continue;
    const arma::uvec queries = arma::conv_to<arma::uvec>::from(blocks.queries[g]);
    arma::Mat<T> logits = scores_transposed<T>(problem.Q().rows(queries), problem.K());
    arma::Mat<T> outside = logits;
    for (const std::uint32_t key : blocks.keys[g]) outside.row(key).fill(-std::numeric_limits<T>::infinity());
    if (blocks.size() > 1) {
      const arma::Col<T> sums = softmax_columns(outside);
      largest = std::max(largest, static_cast<double>(sums.max()));
      smallest = std::min(smallest, static_cast<double>(sums.min()));
    }
    softmax_columns(logits);
    squares += arma::conv_to<arma::vec>::from(arma::sum(arma::square(logits), 1));
  }
  return {static_cast<double>(problem.n_k()) * squares.max(), blocks.size() > 1 ? std::exp(largest - smallest) : 1.0};
}

template <typename T>
Method<T> hyperattention_method() {
  Method<T> method;
  method.name = "hyperattention";
  method.summary = "softmax sums over blocks of sorted hashes and sampled other keys; d keys a query";
  method.source = "HyperAttention (arXiv 2310.05869) Alg. 1-3";
  method.options = options_of_hyperattention().infos();
  method.rectangular = always(true);
  method.rows_sum_to_one = [](const OptionValues& values) {
    return options_of_hyperattention().read(values).values == Values::shared;
  };
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const HyperattentionOptions options = options_of_hyperattention().read(values);
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v()),
               directions = static_cast<double>(options.directions);
    return {[=](arma::uword d, const Key& draw_key) { return hyperattention(problem, d, draw_key, options); },
            [=](double d) {
              const double hashes = d < n_k ? 2 * directions * p * (n_q + n_k) : 0;
              return n_q * d * (2 * (p + p_v) + 1) + hashes;
            }};
  };
  return method;
}

template Approximation<float> hyperattention(const Problem<float>&, arma::uword, const Key&,
                                             const HyperattentionOptions&);
template Approximation<double> hyperattention(const Problem<double>&, arma::uword, const Key&,
                                              const HyperattentionOptions&);
template HyperattentionCondition hyperattention_condition(const Problem<float>&, arma::uword, const Key&,
                                                          const HyperattentionOptions&);
template HyperattentionCondition hyperattention_condition(const Problem<double>&, arma::uword, const Key&,
                                                          const HyperattentionOptions&);
template Method<float> hyperattention_method();
template Method<double> hyperattention_method();

}  // namespace croquis
