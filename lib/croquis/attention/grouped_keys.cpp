#include <algorithm>
#include <cmath>
#include <croquis/attention/grouped_keys.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace croquis {
namespace {

template <typename T>
arma::Mat<T> rows_at(const arma::Mat<T>& x, const std::vector<std::uint32_t>& indices, arma::uword first,
                     arma::uword count) {
  arma::Mat<T> rows(count, x.n_cols, arma::fill::none);
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    const T* from = x.colptr(c);
    T* to = rows.colptr(c);
    for (arma::uword i = 0; i < count; ++i) to[i] = from[indices[first + i]];
  }
  return rows;
}

// The same of tokens that are columns, each in one piece of memory.
template <typename T>
arma::Mat<T> columns_at(const arma::Mat<T>& x, const std::vector<std::uint32_t>& indices, arma::uword first,
                        arma::uword count) {
  arma::Mat<T> columns(x.n_rows, count, arma::fill::none);
  for (arma::uword i = 0; i < count; ++i) std::copy_n(x.colptr(indices[first + i]), x.n_rows, columns.colptr(i));
  return columns;
}

// Queries over sqrt(p) and keys, as columns.
template <typename T>
struct TokenColumns {
  arma::Mat<T> queries, keys;  // p x n_q, p x n_k

  explicit TokenColumns(const Problem<T>& problem) : queries(transposed(problem.Q())), keys(transposed(problem.K())) {
    queries *= 1 / std::sqrt(static_cast<T>(problem.p()));
  }
};

// Some queries of a group.
struct Part {
  std::size_t group;
  arma::uword first, count;
};

template <typename T>
std::vector<Part> parts_of(const std::vector<KeyGroup<T>>& groups) {
  std::vector<Part> parts;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const arma::uword queries = groups[g].queries.size();
    for (arma::uword i = 0; i < queries; i += kGroupQueriesAtOnce) {
      parts.push_back({g, i, std::min<arma::uword>(kGroupQueriesAtOnce, queries - i)});
    }
  }
  return parts;
}

template <typename T>
void require_group(const KeyGroup<T>& group, std::size_t layer, arma::uword n_q, arma::uword n_k) {
  const auto below = [](const std::vector<std::uint32_t>& indices, arma::uword n) {
    return std::all_of(indices.begin(), indices.end(), [n](std::uint32_t index) { return index < n; });
  };
  const std::size_t keys = group.keys.size();
  require(group.queries.empty() || keys > 0, "grouped_attention", "a key for every query", {{"layer", layer}});
  require(below(group.queries, n_q) && below(group.keys, n_k), "grouped_attention", "queries below n_q, keys below n_k",
          {{"layer", layer}, {"n_q", n_q}, {"n_k", n_k}});
  require(group.output_weights.size() == keys && group.sum_weights.size() == keys, "grouped_attention",
          "two weights for every key",
          {{"layer", layer},
           {"keys", keys},
           {"output_weights", group.output_weights.size()},
           {"sum_weights", group.sum_weights.size()}});
  const std::vector<std::uint32_t>& visible = group.visible;
  require(visible.empty() || (visible.size() == group.queries.size() && visible.front() >= 1 &&
                              visible.back() <= keys && std::is_sorted(visible.begin(), visible.end())),
          "grouped_attention", "a number of visible keys for every query, ascending from 1 to those of the group",
          {{"layer", layer}, {"visible", visible.size()}, {"queries", group.queries.size()}, {"keys", keys}});
}

template <typename T>
void require_groups(const GroupLayers<T>& layers, arma::uword n_q, arma::uword n_k) {
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    std::vector<char> seen(n_q, 0);
    arma::uword queries = 0;
    bool once = true;
    for (const KeyGroup<T>& group : layers[layer]) {
      require_group(group, layer, n_q, n_k);
      for (const std::uint32_t query : group.queries) once = once && seen[query]++ == 0;
      queries += group.queries.size();
    }
    require(once && (layer > 0 || queries == n_q), "grouped_attention", "every query in one group",
            {{"layer", layer}, {"queries", queries}, {"n_q", n_q}});
  }
}

// How many of the first keys of its group query i of a part attends to; the last one of a part to most.
template <typename T>
arma::uword visible_keys(const KeyGroup<T>& group, const Part& part, arma::uword i) {
  return group.visible.empty() ? group.keys.size() : group.visible[part.first + i];
}

// The logits of a part, a query a column, for the keys that its last query attends to.
template <typename T>
arma::Mat<T> logits_of_part(const TokenColumns<T>& tokens, const KeyGroup<T>& group, const Part& part) {
  return product_tn(columns_at(tokens.keys, group.keys, 0, visible_keys(group, part, part.count - 1)),
                    columns_at(tokens.queries, group.queries, part.first, part.count));
}

// Column i becomes exponentials relative to `top`, 0 where the query does not attend.
template <typename T>
void exponentials_at(arma::Mat<T>& a, arma::uword i, arma::uword visible, T top) {
  exp_shifted(a.colptr(i), visible, top);
  std::fill(a.colptr(i) + visible, a.colptr(i) + a.n_rows, T(0));
}

// B~ by groups: B~_ij is a sum of w_j a_ij over the groups of query i, divided by its denominator.
template <typename T>
struct GroupedScores {
  Problem<T> problem;
  std::shared_ptr<const GroupLayers<T>> layers;
  std::vector<std::vector<Part>> parts;            // of every layer
  std::vector<std::vector<arma::Mat<T>>> weights;  // of every part, keys x queries

  GroupedScores(const Problem<T>& problem_, std::shared_ptr<const GroupLayers<T>> layers_,
                const Denominators<T>& denominators)
      : problem(problem_), layers(std::move(layers_)) {
    const TokenColumns<T> tokens(problem);
    for (const std::vector<KeyGroup<T>>& groups : *layers) {
      parts.push_back(parts_of(groups));
      weights.emplace_back(parts.back().size());
      parallel_for(parts.back().size(), [&](std::size_t at) {
        const Part& part = parts.back()[at];
        const KeyGroup<T>& group = groups[part.group];
        arma::Mat<T>& w = weights.back()[at] = logits_of_part(tokens, group, part);
        for (arma::uword i = 0; i < w.n_cols; ++i) {
          const std::uint32_t query = group.queries[part.first + i];
          exponentials_at(w, i, visible_keys(group, part, i), denominators.log_scale(query));
          const T share = 1 / denominators.values(query);
          for (arma::uword j = 0; j < w.n_rows; ++j) w(j, i) *= group.output_weights[j] * share;
        }
      });
    }
  }

  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    arma::Mat<T> result(problem.n_q(), x.n_cols, arma::fill::zeros);
    for (std::size_t layer = 0; layer < parts.size(); ++layer) {
      parallel_for(parts[layer].size(), [&](std::size_t at) {
        const Part& part = parts[layer][at];
        const KeyGroup<T>& group = (*layers)[layer][part.group];
        const arma::Mat<T>& w = weights[layer][at];
        const arma::Mat<T> rows = product_tn(w, rows_at(x, group.keys, 0, w.n_rows));
        for (arma::uword c = 0; c < x.n_cols; ++c) {
          for (arma::uword i = 0; i < rows.n_rows; ++i) result(group.queries[part.first + i], c) += rows(i, c);
        }
      });
    }
    return result;
  }

  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const {
    arma::Mat<T> result(problem.n_k(), x.n_cols, arma::fill::zeros);
    parallel_for(x.n_cols, [&](std::size_t c) {  // groups share keys
      for (std::size_t layer = 0; layer < parts.size(); ++layer) {
        for (std::size_t at = 0; at < parts[layer].size(); ++at) {
          const Part& part = parts[layer][at];
          const KeyGroup<T>& group = (*layers)[layer][part.group];
          const arma::Mat<T>& w = weights[layer][at];
          for (arma::uword i = 0; i < w.n_cols; ++i) {
            const T entry = x(group.queries[part.first + i], c);
            for (arma::uword j = 0; j < w.n_rows; ++j) result(group.keys[j], c) += w(j, i) * entry;
          }
        }
      }
    });
    return result;
  }
};

// Adds the groups of a layer to the numerators (p_v x n_q) and row sums, which are relative to log_scale. The values
// are columns.
template <typename T>
void add_layer(const TokenColumns<T>& tokens, const arma::Mat<T>& values, const std::vector<KeyGroup<T>>& groups,
               arma::Mat<T>& numerators, Denominators<T>& denominators) {
  const std::vector<Part> parts = parts_of(groups);
  parallel_for(parts.size(), [&](std::size_t at) {
    const Part& part = parts[at];
    const KeyGroup<T>& group = groups[part.group];
    arma::Mat<T> a = logits_of_part(tokens, group, part);
    std::vector<T> tops(part.count);
    for (arma::uword i = 0; i < part.count; ++i) {
      const arma::uword visible = visible_keys(group, part, i);
      tops[i] = maximum(a.colptr(i), visible);
      exponentials_at(a, i, visible, tops[i]);
    }
    arma::Mat<T> weighted = columns_at(values, group.keys, 0, a.n_rows);
    for (arma::uword j = 0; j < a.n_rows; ++j) weighted.col(j) *= group.output_weights[j];
    const arma::Col<T> sum_weights(group.sum_weights);
    const arma::Mat<T> outputs = product(weighted, a);
    const arma::Mat<T> sums = product_tn(a, arma::Mat<T>(sum_weights.head(a.n_rows)));
    for (arma::uword i = 0; i < part.count; ++i) {
      const std::uint32_t query = group.queries[part.first + i];
      const T top = std::max(denominators.log_scale(query), tops[i]);
      const T before = std::exp(denominators.log_scale(query) - top), now = std::exp(tops[i] - top);
      denominators.values(query) = before * denominators.values(query) + now * sums(i, 0);
      denominators.log_scale(query) = top;
      T* numerator = numerators.colptr(query);
      const T* added = outputs.colptr(i);
      for (arma::uword c = 0; c < numerators.n_rows; ++c) numerator[c] = before * numerator[c] + now * added[c];
    }
  });
}

}  // namespace

template <typename T>
Approximation<T> grouped_attention(const Problem<T>& problem, GroupLayers<T> layers, const char* name) {
  const arma::uword n_q = problem.n_q();
  require_groups(layers, n_q, problem.n_k());
  Approximation<T> approximation;
  arma::Mat<T> numerators(problem.p_v(), n_q, arma::fill::zeros);
  Denominators<T> denominators{arma::Col<T>(n_q, arma::fill::zeros), arma::Col<T>(n_q)};
  denominators.log_scale.fill(-std::numeric_limits<T>::infinity());
  const TokenColumns<T> tokens(problem);
  const arma::Mat<T> values = transposed(problem.V());
  for (const std::vector<KeyGroup<T>>& groups : layers) add_layer(tokens, values, groups, numerators, denominators);
  const arma::uvec zero = arma::find(denominators.values == 0);
  if (!zero.is_empty()) {
    throw std::runtime_error(std::string(name) + ": " + std::to_string(zero.n_elem) +
                             " denominators are zero; no key of a row sum has a weight there");
  }
  const arma::Col<T> shares = 1 / denominators.values;
  approximation.output = transposed(numerators);
  approximation.output.each_col() %= shares;
  approximation.scores =
      deferred<T>(n_q, problem.n_k(),
                  [=, layers = std::make_shared<const GroupLayers<T>>(std::move(layers))]() -> LinearOperator<T> {
                    return operator_of<T>(problem.n_q(), problem.n_k(),
                                          std::make_shared<const GroupedScores<T>>(problem, layers, denominators));
                  });
  approximation.denominators = std::move(denominators);
  return approximation;
}

template Approximation<float> grouped_attention(const Problem<float>&, GroupLayers<float>, const char*);
template Approximation<double> grouped_attention(const Problem<double>&, GroupLayers<double>, const char*);

}  // namespace croquis
