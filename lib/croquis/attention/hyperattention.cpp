#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/grouped_keys.hpp>
#include <croquis/attention/hyperattention.hpp>
#include <croquis/attention/sorted_blocks.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/random/indices.hpp>
#include <limits>
#include <utility>

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

// A key for each estimate of a rectangle.
arma::uword fewest_keys(const HyperattentionOptions& options) {
  return options.values == Values::shared ? 2 : 3;
}

template <typename T>
void require_keys(const Problem<T>& problem, arma::uword d, const HyperattentionOptions& options) {
  require(d >= 1 && d <= problem.n_k(), "hyperattention", "1 <= d <= n_k", {{"d", d}, {"n_k", problem.n_k()}});
  require(options.values == Values::shared || d >= 3, "hyperattention", "d >= 3, a key for each of three estimates",
          {{"d", d}});
}

// What a draw computes: rectangles of which a query attends to `keys` keys, and of a causal problem leaves.
struct DrawPlan {
  CausalHalves parts;
  arma::uword keys = 0;
};

// In a causal problem as many pairs as if every query attended to at most d keys.
template <typename T>
arma::uword keys_of_rectangle(const Problem<T>& problem, arma::uword d, const HyperattentionOptions& options) {
  if (!problem.is_causal()) return d;
  return keys_of_halves(problem.tokens(), most_visits(problem, static_cast<double>(d)), fewest_keys(options));
}

template <typename T>
DrawPlan plan_of(const Problem<T>& problem, arma::uword d, const HyperattentionOptions& options) {
  require_keys(problem, d, options);
  const arma::uword keys = keys_of_rectangle(problem, d, options);
  if (problem.is_causal()) return {causal_halves(problem.tokens(), keys), keys};
  return {{{}, {{{0, problem.n_q(), 0, problem.n_k()}}}}, keys};
}

// Random keys of a rectangle: those of a draw, and of a causal one of the draw's child of its first query's token.
struct RectangleKeys {
  Key sums, values;
  template <typename T>
  RectangleKeys(const Problem<T>& problem, const CausalRectangle& part, const Key& draw_key)
      : sums(draw_key.child("keys")), values(draw_key.child("values")) {
    if (!problem.is_causal()) return;
    const arma::uword token = problem.tokens().query(part.first_query);
    sums = sums.child(token);
    values = values.child(token);
  }
};

// Adds the groups of a rectangle of more than `keys` keys.
template <typename T>
void add_rectangle(const Problem<T>& problem, const HashedTokens& hashed, const CausalRectangle& part, arma::uword keys,
                   const RectangleKeys& random, const HyperattentionOptions& options,
                   std::vector<KeyGroup<T>>& groups) {
  const Shares shares = shares_of(keys, options);
  const SortedBlocks blocks = sorted_blocks(hashed, part, shares.block);
  const arma::uvec sampled = part.first_key + sample_with_replacement(part.keys, shares.sums, random.sums);
  const T weight = static_cast<T>(part.keys) / static_cast<T>(std::max<arma::uword>(1, shares.sums));
  arma::Col<T> squares(part.keys, arma::fill::ones);
  arma::uvec of_values;
  if (shares.values > 0) {
    const arma::Mat<T> values = problem.V().rows(part.first_key, part.first_key + part.keys - 1);
    const arma::Col<T> norms = squared_row_norms(over_power_of_two(values));
    if (norms.max() > 0) squares = norms / norms.max();
    of_values = sample_weighted(squares, shares.values, random.values);
  }
  const T total = arma::accu(squares) / static_cast<T>(std::max<arma::uword>(1, shares.values));
  const bool shared = options.values == Values::shared;
  for (std::size_t g = 0; g < blocks.size(); ++g) {
    KeyGroup<T> group;
    group.queries = blocks.queries[g];
    for (const std::uint32_t key : blocks.keys[g]) group.add(key, shared ? T(1) : T(0), T(1));
    for (const arma::uword key : sampled) {
      if (options.masked && blocks.block_of_key(key) == g) continue;
      group.add(static_cast<std::uint32_t>(key), shared ? weight : T(0), weight);
    }
    for (const arma::uword key : of_values) {
      group.add(static_cast<std::uint32_t>(part.first_key + key), total / squares(key), T(0));
    }
    groups.push_back(std::move(group));
  }
}

// All queries of a rectangle of few keys, or of a leaf, with every key that they attend to.
template <typename T>
KeyGroup<T> exact_group(const CausalRectangle& part, bool causal) {
  KeyGroup<T> group;
  for (arma::uword i = 0; i < part.queries; ++i) {
    group.queries.push_back(static_cast<std::uint32_t>(part.first_query + i));
    if (causal) group.visible.push_back(static_cast<std::uint32_t>(i + 1));
  }
  for (arma::uword j = 0; j < part.keys; ++j) group.add(static_cast<std::uint32_t>(part.first_key + j), T(1), T(1));
  return group;
}

template <typename T>
GroupLayers<T> layers_of(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const HyperattentionOptions& options) {
  const DrawPlan plan = plan_of(problem, d, options);
  const HashedTokens hashed = hashed_tokens(problem, options.directions, options.order, draw_key.child("directions"));
  GroupLayers<T> layers;
  if (!plan.parts.leaves.empty()) layers.emplace_back();
  for (const CausalHalves::Leaf& leaf : plan.parts.leaves) {
    const arma::uword first_key = problem.tokens().query(leaf.first_query);
    layers[0].push_back(exact_group<T>({leaf.first_query, leaf.count, first_key, leaf.count}, true));
  }
  for (const std::vector<CausalRectangle>& level : plan.parts.levels) {
    layers.emplace_back();
    for (const CausalRectangle& part : level) {
      if (part.keys <= plan.keys) {
        layers.back().push_back(exact_group<T>(part, false));
      } else {
        add_rectangle(problem, hashed, part, plan.keys, RectangleKeys(problem, part, draw_key), options, layers.back());
      }
    }
  }
  return layers;
}

// alpha and kappa of a rectangle, as if it were a problem.
template <typename T>
SamplingCondition condition_of(const Problem<T>& problem, const CausalRectangle& part, const SortedBlocks& blocks) {
  const arma::Mat<T> k = problem.K().rows(part.first_key, part.first_key + part.keys - 1);
  arma::vec squares(part.keys, arma::fill::zeros);
  double largest = -std::numeric_limits<double>::infinity(), smallest = -largest;
  for (std::size_t g = 0; g < blocks.size(); ++g) {
    if (blocks.queries[g].empty()) continue;
    const arma::uvec queries = arma::conv_to<arma::uvec>::from(blocks.queries[g]);
    arma::Mat<T> logits = scores_transposed<T>(problem.Q().rows(queries), k);
    arma::Mat<T> outside = logits;
    for (const std::uint32_t key : blocks.keys[g]) {
      outside.row(key - part.first_key).fill(-std::numeric_limits<T>::infinity());
    }
    if (blocks.size() > 1) {
      const arma::Col<T> log_sums = softmax_columns(outside).logarithms();
      largest = std::max(largest, static_cast<double>(log_sums.max()));
      smallest = std::min(smallest, static_cast<double>(log_sums.min()));
    }
    softmax_columns(logits);
    squares += arma::conv_to<arma::vec>::from(arma::sum(arma::square(logits), 1));
  }
  return {static_cast<double>(part.keys) * squares.max(), blocks.size() > 1 ? std::exp(largest - smallest) : 1.0};
}

template <typename T>
double flops_of(const Problem<T>& problem, double d, const HyperattentionOptions& options) {
  const bool exact = d >= static_cast<double>(problem.n_k());
  if (exact || !problem.is_causal())
    return sorted_block_flops(problem, most_visits(problem, d), exact ? 0 : options.directions);
  const arma::uword keys = keys_of_rectangle(problem, static_cast<arma::uword>(d), options);
  return sorted_block_flops(problem, pairs_of_halves(problem.tokens(), keys, kGroupQueriesAtOnce), options.directions);
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
  return grouped_attention(problem, layers_of(problem, d, draw_key, options), "hyperattention");
}

template <typename T>
SamplingCondition hyperattention_condition(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                           const HyperattentionOptions& options) {
  const DrawPlan plan = plan_of(problem, d, options);
  const HashedTokens hashed = hashed_tokens(problem, options.directions, options.order, draw_key.child("directions"));
  SamplingCondition condition;
  for (const std::vector<CausalRectangle>& level : plan.parts.levels) {
    for (const CausalRectangle& part : level) {
      if (problem.is_causal() && part.keys <= plan.keys) continue;
      const SamplingCondition of_part =
          condition_of(problem, part, sorted_blocks(hashed, part, shares_of(plan.keys, options).block));
      condition.alpha = std::fmax(condition.alpha, of_part.alpha);
      condition.kappa = std::fmax(condition.kappa, of_part.kappa);
    }
  }
  return condition;
}

template <typename T>
std::optional<SamplingCondition> sampling_condition(const Problem<T>& problem, std::string_view method,
                                                    const OptionValues& values, arma::uword d, const Key& draw_key) {
  if (method != "hyperattention" || d == problem.n_k()) return std::nullopt;
  return hyperattention_condition(problem, d, draw_key, options_of_hyperattention().read(values));
}

template <typename T>
Method<T> hyperattention_method() {
  Method<T> method;
  method.name = "hyperattention";
  method.summary = "softmax sums over blocks of sorted hashes and sampled other keys; d keys a query";
  method.source = "HyperAttention (arXiv 2310.05869) Alg. 1-4";
  method.options = options_of_hyperattention().infos();
  method.causal = true;
  method.rectangular = always(true);
  method.rows_sum_to_one = [](const OptionValues& values) {
    return options_of_hyperattention().read(values).values == Values::shared;
  };
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const HyperattentionOptions options = options_of_hyperattention().read(values);
    return {[=](arma::uword d, const Key& draw_key) { return hyperattention(problem, d, draw_key, options); },
            [=](double d) { return flops_of(problem, d, options); }};
  };
  return method;
}

template Approximation<float> hyperattention(const Problem<float>&, arma::uword, const Key&,
                                             const HyperattentionOptions&);
template Approximation<double> hyperattention(const Problem<double>&, arma::uword, const Key&,
                                              const HyperattentionOptions&);
template SamplingCondition hyperattention_condition(const Problem<float>&, arma::uword, const Key&,
                                                    const HyperattentionOptions&);
template SamplingCondition hyperattention_condition(const Problem<double>&, arma::uword, const Key&,
                                                    const HyperattentionOptions&);
template std::optional<SamplingCondition> sampling_condition(const Problem<float>&, std::string_view,
                                                             const OptionValues&, arma::uword, const Key&);
template std::optional<SamplingCondition> sampling_condition(const Problem<double>&, std::string_view,
                                                             const OptionValues&, arma::uword, const Key&);
template Method<float> hyperattention_method();
template Method<double> hyperattention_method();

}  // namespace croquis
