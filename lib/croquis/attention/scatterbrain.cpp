#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/scatterbrain.hpp>
#include <croquis/attention/sorted_blocks.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/sparse_columns.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kQueriesCorrected = 64;
// The estimate of what rounding changes in a row sum, relative to it, above which a call is refused.
constexpr double kMostOfSum = 0.01;

// How d is divided.
struct FeaturesAndKeys {
  arma::uword features, keys;
};

FeaturesAndKeys divided(arma::uword d, const ScatterbrainOptions& options) {
  const arma::uword functions = functions_of(options.features.map), features = d / 2 / functions * functions;
  return {features, d - features};
}

// The keys of the support of every query, ascending.
template <typename T>
std::vector<std::vector<std::uint32_t>> supports(const Problem<T>& problem, arma::uword count, const Key& draw_key,
                                                 const ScatterbrainOptions& options) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  std::vector<std::vector<std::uint32_t>> keys(n_q);
  if (options.support == ScatterbrainOptions::Support::hashed) {
    SortedBlocks blocks = sorted_blocks(problem, count, options.directions, BucketOrder::gray, draw_key);
    for (std::size_t g = 0; g < blocks.size(); ++g) {
      std::sort(blocks.keys[g].begin(), blocks.keys[g].end());
      for (const std::uint32_t query : blocks.queries[g]) keys[query] = blocks.keys[g];
    }
    return keys;
  }
  const Pattern tokens(problem);
  for (arma::uword i = 0; i < n_q; ++i) {
    // As in the code, places beyond the first and the last key are not moved in.
    const arma::uword own = tokens.own(i), end = std::min(n_k, own + count - count / 2);
    for (arma::uword j = own - std::min(own, count / 2); j < end; ++j) keys[i].push_back(static_cast<std::uint32_t>(j));
  }
  return keys;
}

// B~ = diag(shares) (phi(Q) phi(K)^T) + W.
template <typename T>
struct CorrectedScores {
  typename FeaturePair<T>::Matrices features;
  arma::Col<T> shares;
  SparseColumns<T> corrections;  // column i is row i of W

  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    arma::Mat<T> result = product(features.queries, product_tn(features.keys, x));
    multiply_rows(result, shares);
    return result + corrections.transposed_times(x);
  }
  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const {
    arma::Mat<T> scaled_rows = x;
    multiply_rows(scaled_rows, shares);
    return product(features.keys, product_tn(features.queries, scaled_rows)) + corrections.times(x);
  }
};

// sum_j sum_t |phi(q_i)_t phi(k_j)_t| of every query: what the rounding errors of sums of estimates are relative to,
// also where their terms have signs.
template <typename T>
arma::Col<T> sizes_of_sums(const typename FeaturePair<T>::Matrices& features) {
  arma::Col<T> sizes(features.queries.n_rows, arma::fill::zeros);
  for (arma::uword t = 0; t < features.queries.n_cols; ++t) {
    const T of_keys = arma::accu(arma::abs(features.keys.col(t)));
    const T* of_queries = features.queries.colptr(t);
    for (arma::uword i = 0; i < sizes.n_elem; ++i) sizes[i] += std::abs(of_queries[i]) * of_keys;
  }
  return sizes;
}

const Options<ScatterbrainOptions>& options_of_scatterbrain() {
  using O = ScatterbrainOptions;
  static const Options<O> options = [] {
    Options<O> table;
    table.preset("code: support=window, map=hyperbolic", {{"paper", {}}, {"code", O::code()}})
        .choice("support", &O::support, in_order<O::Support>({"hashed", "window"}),
                "keys whose scores are exact: a block of a sorted hash, or those about the query")
        .count("directions", &O::directions, 1, 30, "support=hashed: half-spaces of the hash");
    return add_feature_options(
        table, [](auto& o) -> auto& { return o.features; });
  }();
  return options;
}

}  // namespace

double scatterbrain_flops(double n_q, double n_k, double p, double p_v, double d, const ScatterbrainOptions& options) {
  if (d >= n_k) return n_q * n_k * pair_flops(p, p_v);
  const FeaturesAndKeys of = divided(static_cast<arma::uword>(std::max(0.0, std::round(d))), options);
  const auto m = static_cast<double>(of.features), s = static_cast<double>(of.keys);
  const bool hashed = options.support == ScatterbrainOptions::Support::hashed;
  const double hashes = hashed ? 2 * static_cast<double>(options.directions) * p * (n_q + n_k) : 0;
  return feature_attention_flops(n_q + n_k, p, p_v, m, options.features) + n_q * s * (2 * (p + m + p_v) + 1) + hashes;
}

template <typename T>
Approximation<T> scatterbrain(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                              const ScatterbrainOptions& options) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "scatterbrain", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  if (d == n_k) return from_scores(exact_scores(problem, Target::softmax), problem);
  const FeaturesAndKeys of = divided(d, options);
  require(of.features >= 1, "scatterbrain", "d >= 2, and 4 where two features share a direction", {{"d", d}});
  const auto stored = std::make_shared<CorrectedScores<T>>();
  stored->features = softmax_features(problem, of.features, options.features, draw_key.child("features")).matrices();
  stored->shares.set_size(n_q);
  SparseColumns<T>& w = stored->corrections;
  w.rows = n_k;
  w.cols = n_q;
  w.start.push_back(0);
  for (const std::vector<std::uint32_t>& keys : supports(problem, of.keys, draw_key.child("directions"), options)) {
    w.index.insert(w.index.end(), keys.begin(), keys.end());
    w.start.push_back(w.index.size());
  }
  w.value.resize(w.index.size());

  const arma::Col<T> all =
      product(stored->features.queries, product_tn(stored->features.keys, arma::Mat<T>(n_k, 1, arma::fill::ones)))
          .col(0);
  const arma::Mat<T> queries = transposed(problem.Q()),
                     keys = transposed<T>(scaled(problem.K(), 1 / std::sqrt(static_cast<T>(problem.p())))),
                     of_queries = transposed(stored->features.queries), of_keys = transposed(stored->features.keys);
  Denominators<T> denominators{arma::Col<T>(n_q), arma::Col<T>(n_q)};
  arma::Col<T> rounding = sizes_of_sums<T>(stored->features);
  parallel_for(blocks_of(n_q, kQueriesCorrected), [&](std::size_t block) {
    std::vector<T> estimates;
    for (arma::uword i = block * kQueriesCorrected; i < std::min(n_q, (block + 1) * kQueriesCorrected); ++i) {
      const std::size_t count = w.start[i + 1] - w.start[i];
      const std::uint32_t* chosen = w.index.data() + w.start[i];
      T* row = w.value.data() + w.start[i];
      estimates.resize(count);
      dots(queries.colptr(i), keys.memptr(), keys.n_rows, chosen, count, row);
      dots(of_queries.colptr(i), of_keys.memptr(), of_keys.n_rows, chosen, count, estimates.data());
      T top = stored->features.log_scale(i);
      if (count > 0) top = std::max(top, maximum(row, count));
      exp_shifted(row, count, top);
      const T share = std::exp(stored->features.log_scale(i) - top);
      T sum = share * all(i);
      for (std::size_t e = 0; e < count; ++e) {
        row[e] -= share * estimates[e];
        sum += row[e];
      }
      rounding(i) *= 2 * share * std::numeric_limits<T>::epsilon();  // of all keys, and of those of the support
      for (std::size_t e = 0; e < count; ++e) row[e] /= sum;
      stored->shares(i) = share / sum;
      denominators.values(i) = sum;
      denominators.log_scale(i) = top;
    }
  });
  denominators =
      checked_denominators<T>(std::move(denominators.values), std::move(denominators.log_scale), "scatterbrain");
  const arma::uvec rounded = arma::find(rounding > T(kMostOfSum) * arma::abs(denominators.values));
  if (!rounded.is_empty()) {
    throw std::runtime_error("scatterbrain: rounding may decide " + std::to_string(rounded.n_elem) +
                             " rows, whose features of keys on the support are so much larger than what is left of "
                             "the row sum without them");
  }
  Approximation<T> approximation = from_scores(operator_of<T>(n_q, n_k, stored), problem);
  approximation.denominators = std::move(denominators);
  return approximation;
}

template <typename T>
Method<T> scatterbrain_method() {
  Method<T> method;
  method.name = "scatterbrain";
  method.summary = "random features for all keys, exact scores in their place on a few; d features and keys";
  method.source = "Scatterbrain (arXiv 2110.15343) Sec. 4";
  method.options = options_of_scatterbrain().infos();
  method.rectangular = method.rows_sum_to_one = always(true);
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const ScatterbrainOptions options = options_of_scatterbrain().read(values);
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return scatterbrain(problem, d, draw_key, options); },
            [=](double d) { return scatterbrain_flops(n_q, n_k, p, p_v, d, options); }};
  };
  return method;
}

template Approximation<float> scatterbrain(const Problem<float>&, arma::uword, const Key&, const ScatterbrainOptions&);
template Approximation<double> scatterbrain(const Problem<double>&, arma::uword, const Key&,
                                            const ScatterbrainOptions&);
template Method<float> scatterbrain_method();
template Method<double> scatterbrain_method();

}  // namespace croquis
