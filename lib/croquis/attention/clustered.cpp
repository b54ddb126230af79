#include <algorithm>
#include <croquis/attention/clustered.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/larger_first.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/random/normal_matrix.hpp>
#include <memory>
#include <numeric>

namespace croquis {
namespace {

// The tokens of some columns as rows.
template <typename T>
arma::Mat<T> tokens(const arma::Mat<T>& columns, const arma::uvec& chosen) {
  return arma::trans(arma::Mat<T>(columns.cols(chosen)));
}

// B~: the columns of `shared` are the rows of the clusters, zero at the clusters' top keys; those have a weight a query
// instead.
template <typename T>
struct ClusteredScores {
  arma::uword n_q = 0, n_k = 0;
  std::vector<arma::uvec> queries;  // of every cluster that has some
  arma::Mat<T> shared;              // n_k x clusters
  std::vector<arma::uvec> top;      // keys
  std::vector<arma::Mat<T>> own;    // top keys x queries of the cluster

  // Tokens are columns here, so that each of the many that a cluster has is read or written in one piece.
  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    const arma::Mat<T> rows = arma::trans(product_tn(shared, x));
    arma::Mat<T> result(x.n_cols, n_q, arma::fill::none);
    parallel_for(queries.size(), [&](std::size_t c) {
      if (top[c].is_empty()) {
        for (const arma::uword i : queries[c]) result.col(i) = rows.col(c);
        return;
      }
      const arma::Mat<T> block = arma::trans(product_tn(own[c], arma::Mat<T>(x.rows(top[c]))));
      for (arma::uword e = 0; e < block.n_cols; ++e) result.col(queries[c](e)) = block.col(e) + rows.col(c);
    });
    return transposed(result);
  }

  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const {
    const arma::Mat<T> columns = transposed(x);
    arma::Mat<T> sums(queries.size(), x.n_cols);
    std::vector<arma::Mat<T>> of_top(queries.size());
    parallel_for(queries.size(), [&](std::size_t c) {
      const arma::Mat<T> block = tokens(columns, queries[c]);
      sums.row(c) = arma::sum(block, 0);
      if (!top[c].is_empty()) of_top[c] = product(own[c], block);
    });
    arma::Mat<T> result = product(shared, sums);
    for (std::size_t c = 0; c < queries.size(); ++c) {  // clusters share keys
      if (!top[c].is_empty()) result.rows(top[c]) += of_top[c];
    }
    return result;
  }

  // Moves the weight of the largest k of cluster c to its queries' own softmax over them.
  void refine(std::size_t c, arma::uword k, const arma::Mat<T>& q_columns, const arma::Mat<T>& keys) {
    T* weights = shared.colptr(c);
    std::vector<arma::uword> order(n_k);
    std::iota(order.begin(), order.end(), arma::uword{0});
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k - 1), order.end(),
                     LargerFirst<T>{weights});
    order.resize(k);
    std::sort(order.begin(), order.end());
    top[c] = arma::uvec(order);
    T sum = 0;
    for (const arma::uword j : order) {
      sum += weights[j];
      weights[j] = 0;
    }
    own[c] = softmax_transposed<T>(tokens(q_columns, queries[c]), keys.rows(top[c]));
    own[c] *= sum;
  }
};

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                             const ClusteredOptions& options, arma::uword top, const char* name) {
  require(d >= 1 && d <= problem.n_q(), name, "1 <= d <= n_q", {{"d", d}, {"n_q", problem.n_q()}});
  const arma::uword p = problem.p();
  auto planes = normal_matrix<T>(draw_key.child("planes"), p + 1, options.bits);
  if (!options.offsets) planes.row(p).zeros();
  const std::vector<std::uint32_t> cluster =
      hamming_clusters(plane_hashes(problem.Q(), planes), d, draw_key.child("clusters"),
                       {.updates = options.updates, .bits = options.bits});

  std::vector<std::vector<arma::uword>> members(d);
  for (arma::uword i = 0; i < cluster.size(); ++i) members[cluster[i]].push_back(i);
  const auto scores = std::make_shared<ClusteredScores<T>>();
  scores->n_q = problem.n_q();
  scores->n_k = problem.n_k();
  for (const auto& queries : members) {
    if (!queries.empty()) scores->queries.emplace_back(queries);
  }
  const std::size_t count = scores->queries.size();
  scores->top.resize(count);
  scores->own.resize(count);
  const arma::uword k = std::min(top, problem.n_k());
  {  // which frees its columns before the product with the values takes as much again
    const arma::Mat<T> q_columns = transposed(problem.Q());
    arma::Mat<T> means(count, p);
    parallel_for(count, [&](std::size_t c) { means.row(c) = arma::mean(tokens(q_columns, scores->queries[c]), 0); });
    scores->shared = softmax_transposed(means, problem.K());
    if (k > 0) parallel_for(count, [&](std::size_t c) { scores->refine(c, k, q_columns, problem.K()); });
  }
  return from_scores(operator_of<T>(problem.n_q(), problem.n_k(), scores), problem);
}

Options<ClusteredOptions> options_of_clustered(bool improved) {
  using O = ClusteredOptions;
  Options<O> options;
  options.preset("code: 32 bits, 9 updates", {{"paper", {}}, {"code", O::code()}})
      .count("bits", &O::bits, 1, 64, "B, random planes of the hash")
      .count("updates", &O::updates, 0, 1000, "of the centroids of the K-means")
      .flag("offsets", &O::offsets, "planes have an offset; no: they go through the origin");
  if (improved) options.count("top", &O::top, 1, 1000000, "k, keys of a cluster that have a weight a query");
  return options;
}

template <typename T>
Method<T> method_of(bool improved) {
  Method<T> method;
  const char* name = improved ? "improved-clustered" : "clustered";
  method.name = name;
  method.summary = improved ? "the same, with weights of its own for each query on the cluster's largest keys"
                            : "queries in d clusters by a hash share the attention of their mean";
  method.source = improved ? "Vyas et al. 2020 Sec. 3.3" : "Vyas et al. 2020 Sec. 3.2";
  const Options<ClusteredOptions> options = options_of_clustered(improved);
  method.options = options.infos();
  method.rectangular = method.rows_sum_to_one = method.exact_on_equal_tokens = always(true);
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n_q; };
  method.prepare = [=](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const ClusteredOptions chosen = options.read(values);
    const arma::uword top = improved ? chosen.top : 0;
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v()),
               bits = static_cast<double>(chosen.bits), updates = static_cast<double>(chosen.updates),
               k = std::min(static_cast<double>(top), n_k);
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, d, draw_key, chosen, top, name); },
            [=](double d) {
              const double clusters = 2 * n_q * (p + 1) * bits + 2 * n_q * d * (updates + 1) + n_q * bits * updates;
              return (d * n_k + n_q * k) * pair_flops(p, p_v) + clusters;
            }};
  };
  return method;
}

}  // namespace

template <typename T>
Approximation<T> clustered(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const ClusteredOptions& options) {
  return approximate(problem, d, draw_key, options, 0, "clustered");
}

template <typename T>
Approximation<T> improved_clustered(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                    const ClusteredOptions& options) {
  require(options.top >= 1, "improved-clustered", "top >= 1", {{"top", options.top}});
  return approximate(problem, d, draw_key, options, options.top, "improved-clustered");
}

template <typename T>
Method<T> clustered_method() {
  return method_of<T>(false);
}

template <typename T>
Method<T> improved_clustered_method() {
  return method_of<T>(true);
}

template Approximation<float> clustered(const Problem<float>&, arma::uword, const Key&, const ClusteredOptions&);
template Approximation<double> clustered(const Problem<double>&, arma::uword, const Key&, const ClusteredOptions&);
template Approximation<float> improved_clustered(const Problem<float>&, arma::uword, const Key&,
                                                 const ClusteredOptions&);
template Approximation<double> improved_clustered(const Problem<double>&, arma::uword, const Key&,
                                                  const ClusteredOptions&);
template Method<float> clustered_method();
template Method<double> clustered_method();
template Method<float> improved_clustered_method();
template Method<double> improved_clustered_method();

}  // namespace croquis
