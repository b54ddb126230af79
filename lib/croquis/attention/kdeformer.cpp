#include <croquis/attention/column_scores.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/grouped_keys.hpp>
#include <croquis/attention/kdeformer.hpp>
#include <croquis/attention/sorted_blocks.hpp>
#include <croquis/core/require.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/column_norms.hpp>
#include <memory>

namespace croquis {
namespace {

using Probabilities = KdeformerOptions::Probabilities;

// What d and the trials share: the weights of the keys, and with exact probabilities the row sums.
template <typename T>
struct KdeformerShared {
  arma::Col<T> weights;
  RowSums<T> row_sums;
  double flops = 0;  // of these

  KdeformerShared(const Problem<T>& problem, const KdeformerOptions& options) {
    const arma::Mat<T>& v = problem.V();
    const auto n_k = static_cast<double>(v.n_rows), p_v = static_cast<double>(v.n_cols);
    if (options.probabilities == Probabilities::exact) {
      const double pairs = static_cast<double>(problem.n_q()) * n_k, score = 2 * static_cast<double>(problem.p()) + 1;
      ColumnNorms<T> b = column_norms(problem.Q(), problem.K());
      flops = pairs * score;
      const arma::Mat<T> values = over_power_of_two(v);  // their size cancels
      const T of_values = spectral_norm(values);
      weights = arma::square(b.norms);
      if (of_values > 0) {
        // Fixed start: the norm is a property of the problem, not of a draw.
        const NormEstimate of_scores = spectral_norm(exact_scores(problem, Target::softmax), Key(0).child("kdeformer"));
        const T ratio = static_cast<T>(of_scores.value) / of_values;
        flops += pairs * (score + 2 * of_scores.steps * (score + 2));  // the row sums, and two products a step
        flops += spectral_norm_flops(n_k, p_v);
        weights += squared_row_norms(arma::Mat<T>(ratio * values));
      }
      row_sums = std::move(b.row_sums);
      return;
    }
    const T uniform = 1 / static_cast<T>(problem.n_k());
    if (options.probabilities == Probabilities::code) {
      const arma::Mat<T> with_ones = arma::join_rows(v, arma::Mat<T>(v.n_rows, 1, arma::fill::ones));
      const T norm = spectral_norm(with_ones);
      flops = spectral_norm_flops(n_k, p_v + 1);
      weights = row_norms(with_ones) / (norm * norm) + uniform;
      return;
    }
    const T norm = spectral_norm(v);
    flops = spectral_norm_flops(n_k, p_v);
    weights = row_norms(v) / (norm > 0 ? norm : T(1)) + uniform;
  }
};

template <typename T>
std::vector<KeyGroup<T>> groups_of(const Problem<T>& problem, const KdeformerShared<T>& shared, arma::uword d,
                                   const Key& draw_key, const KdeformerOptions& options) {
  const arma::uword b = (d + 1) / 2, m = d - b;
  const SortedBlocks blocks =
      sorted_blocks(problem, b, options.directions, options.order, draw_key.child("directions"));
  const arma::uvec sampled = m > 0 ? sample_weighted(shared.weights, m, draw_key.child("keys")) : arma::uvec();
  const T total = arma::accu(shared.weights) / static_cast<T>(std::max<arma::uword>(1, m));
  std::vector<KeyGroup<T>> groups(blocks.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].queries = blocks.queries[g];
    for (const std::uint32_t key : blocks.keys[g]) groups[g].add(key, T(1), T(1));
    for (const arma::uword key : sampled) {
      if (blocks.block_of_key(key) == g) continue;
      const T weight = total / shared.weights(key);
      groups[g].add(static_cast<std::uint32_t>(key), weight, weight);
    }
  }
  return groups;
}

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const KdeformerShared<T>& shared, arma::uword d,
                             const Key& draw_key, const KdeformerOptions& options) {
  require(d >= 1 && d <= problem.n_k(), "kdeformer", "1 <= d <= n_k", {{"d", d}, {"n_k", problem.n_k()}});
  if (options.probabilities == Probabilities::exact) {
    return from_scores(as_operator(importance_columns<T>(problem.Q(), problem.K(), shared.row_sums, shared.weights, d,
                                                         draw_key.child("keys"))),
                       problem);
  }
  if (d == problem.n_k()) return from_scores(exact_scores(problem, Target::softmax), problem);
  return grouped_attention<T>(problem, {groups_of(problem, shared, d, draw_key, options)}, "kdeformer");
}

const Options<KdeformerOptions>& options_of_kdeformer() {
  using O = KdeformerOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: probabilities=code, order=transposed", {{"paper", {}}, {"code", O::code()}})
          .choice("probabilities", &O::probabilities, in_order<Probabilities>({"values", "code", "exact"}),
                  "of the sampled keys; exact: the theorem's, with exact row sums and no blocks, quadratic in n")
          .choice("order", &O::order, in_order<BucketOrder>({"gray", "transposed"}),
                  "buckets so that neighbours differ in one half-space; or as the code sorts them")
          .count("directions", &O::directions, 1, 30, "half-spaces of the hash");
  return options;
}

bool is_oracle(const OptionValues& values) {
  return options_of_kdeformer().read(values).probabilities == Probabilities::exact;
}

}  // namespace

template <typename T>
Approximation<T> kdeformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const KdeformerOptions& options) {
  return approximate(problem, KdeformerShared<T>(problem, options), d, draw_key, options);
}

template <typename T>
Method<T> kdeformer_method() {
  Method<T> method;
  method.name = "kdeformer";
  method.summary = "softmax sums over blocks of sorted hashes and other keys sampled by their values; d keys a query";
  method.source = "KDEformer (arXiv 2302.02451) Sec. 3";
  method.options = options_of_kdeformer().infos();
  method.rectangular = always(true);
  method.quadratic = is_oracle;
  method.rows_sum_to_one = [](const OptionValues& values) { return !is_oracle(values); };
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.exact_at = [](TokenAlignment shape, const OptionValues& values) -> std::optional<arma::uword> {
    if (is_oracle(values)) return std::nullopt;
    return shape.n_k;
  };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const KdeformerOptions options = options_of_kdeformer().read(values);
    const auto shared = std::make_shared<const KdeformerShared<T>>(problem, options);
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k());
    const bool oracle = options.probabilities == Probabilities::exact;
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, *shared, d, draw_key, options); },
            [=](double d) {
              const double visits = sorted_block_flops(problem, n_q * d, oracle || d >= n_k ? 0 : options.directions);
              return visits + shared->flops;
            }};
  };
  return method;
}

template Approximation<float> kdeformer(const Problem<float>&, arma::uword, const Key&, const KdeformerOptions&);
template Approximation<double> kdeformer(const Problem<double>&, arma::uword, const Key&, const KdeformerOptions&);
template Method<float> kdeformer_method();
template Method<double> kdeformer_method();

}  // namespace croquis
