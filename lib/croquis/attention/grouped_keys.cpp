#include <algorithm>
#include <cmath>
#include <croquis/attention/grouped_keys.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kGroupQueriesAtOnce = 64;

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

// Some queries of a group.
struct Part {
  std::size_t group;
  arma::uword first, count;
};

template <typename T>
std::vector<Part> parts_of(const std::vector<KeyGroup<T>>& groups, const Problem<T>& problem) {
  std::vector<Part> parts;
  arma::uword queries = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const KeyGroup<T>& group = groups[g];
    require(group.queries.empty() || !group.keys.empty(), "grouped_attention", "a key for every query", {{"group", g}});
    queries += group.queries.size();
    for (arma::uword i = 0; i < group.queries.size(); i += kGroupQueriesAtOnce) {
      parts.push_back({g, i, std::min<arma::uword>(kGroupQueriesAtOnce, group.queries.size() - i)});
    }
  }
  require(queries == problem.n_q(), "grouped_attention", "every query in one group",
          {{"queries", queries}, {"n_q", problem.n_q()}});
  return parts;
}

// The exponentials of a part, a query a column, relative to the largest logit; tops has that.
template <typename T>
arma::Mat<T> exponentials(const Problem<T>& problem, const KeyGroup<T>& group, const Part& part, std::vector<T>& tops) {
  const T scale = 1 / std::sqrt(static_cast<T>(problem.p()));
  const arma::Mat<T> queries = scale * rows_at(problem.Q(), group.queries, part.first, part.count),
                     keys = rows_at(problem.K(), group.keys, 0, group.keys.size());
  arma::Mat<T> a = product_nt(keys, queries);
  tops.resize(part.count);
  for (arma::uword i = 0; i < part.count; ++i) {
    tops[i] = maximum(a.colptr(i), a.n_rows);
    exp_shifted(a.colptr(i), a.n_rows, tops[i]);
  }
  return a;
}

// B~ by groups: B~_ij is factor(i) w_j a_ij.
template <typename T>
struct GroupedScores {
  Problem<T> problem;
  std::vector<KeyGroup<T>> groups;
  std::vector<Part> parts;
  std::vector<arma::Mat<T>> weights;  // of every part, keys x queries

  GroupedScores(const Problem<T>& problem_, const std::vector<KeyGroup<T>>& groups_, const arma::Col<T>& sums)
      : problem(problem_), groups(groups_), parts(parts_of(groups, problem)), weights(parts.size()) {
    parallel_for(parts.size(), [&](std::size_t at) {
      const KeyGroup<T>& group = groups[parts[at].group];
      std::vector<T> tops;
      arma::Mat<T>& w = weights[at] = exponentials(problem, group, parts[at], tops);
      for (arma::uword i = 0; i < w.n_cols; ++i) {
        const T share = 1 / sums(group.queries[parts[at].first + i]);
        for (arma::uword j = 0; j < w.n_rows; ++j) w(j, i) *= group.output_weights[j] * share;
      }
    });
  }

  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    arma::Mat<T> result(problem.n_q(), x.n_cols, arma::fill::none);
    parallel_for(parts.size(), [&](std::size_t at) {
      const KeyGroup<T>& group = groups[parts[at].group];
      const arma::Mat<T> rows = product_tn(weights[at], rows_at(x, group.keys, 0, group.keys.size()));
      for (arma::uword c = 0; c < x.n_cols; ++c) {
        for (arma::uword i = 0; i < rows.n_rows; ++i) result(group.queries[parts[at].first + i], c) = rows(i, c);
      }
    });
    return result;
  }

  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const {
    arma::Mat<T> result(problem.n_k(), x.n_cols, arma::fill::zeros);
    parallel_for(x.n_cols, [&](std::size_t c) {  // groups share keys
      for (std::size_t at = 0; at < parts.size(); ++at) {
        const KeyGroup<T>& group = groups[parts[at].group];
        const arma::Mat<T>& w = weights[at];
        for (arma::uword i = 0; i < w.n_cols; ++i) {
          const T entry = x(group.queries[parts[at].first + i], c);
          for (arma::uword j = 0; j < w.n_rows; ++j) result(group.keys[j], c) += w(j, i) * entry;
        }
      }
    });
    return result;
  }
};

}  // namespace

template <typename T>
Approximation<T> grouped_attention(const Problem<T>& problem, std::vector<KeyGroup<T>> groups, const char* name) {
  const arma::uword n_q = problem.n_q(), p_v = problem.p_v();
  const std::vector<Part> parts = parts_of(groups, problem);
  Approximation<T> approximation;
  arma::Mat<T>& output = approximation.output;
  output.set_size(n_q, p_v);
  Denominators<T> denominators{arma::Col<T>(n_q), arma::Col<T>(n_q)};
  parallel_for(parts.size(), [&](std::size_t at) {
    const Part& part = parts[at];
    const KeyGroup<T>& group = groups[part.group];
    std::vector<T> tops;
    const arma::Mat<T> a = exponentials(problem, group, part, tops);
    arma::Mat<T> values = rows_at(problem.V(), group.keys, 0, group.keys.size());
    const arma::Col<T> sum_weights(group.sum_weights), output_weights(group.output_weights);
    values.each_col() %= output_weights;
    const arma::Mat<T> rows = product_tn(a, values);
    const arma::Mat<T> sums = product_tn(a, arma::Mat<T>(sum_weights));
    for (arma::uword i = 0; i < part.count; ++i) {
      const std::uint32_t query = group.queries[part.first + i];
      denominators.values(query) = sums(i, 0);
      denominators.log_scale(query) = tops[i];
      const T share = 1 / sums(i, 0);
      for (arma::uword c = 0; c < p_v; ++c) output(query, c) = share * rows(i, c);
    }
  });
  const arma::uvec zero = arma::find(denominators.values == 0);
  if (!zero.is_empty()) {
    throw std::runtime_error(std::string(name) + ": " + std::to_string(zero.n_elem) +
                             " denominators are zero; no key of a row sum has a weight there");
  }
  approximation.scores = deferred<T>(
      n_q, problem.n_k(),
      [=, sums = denominators.values,
       groups = std::make_shared<const std::vector<KeyGroup<T>>>(std::move(groups))]() -> LinearOperator<T> {
        const auto stored = std::make_shared<const GroupedScores<T>>(problem, *groups, sums);
        return {problem.n_q(), problem.n_k(), [stored](const arma::Mat<T>& x) { return stored->apply(x); },
                [stored](const arma::Mat<T>& x) { return stored->apply_transposed(x); }};
      });
  approximation.denominators = std::move(denominators);
  return approximation;
}

template Approximation<float> grouped_attention(const Problem<float>&, std::vector<KeyGroup<float>>, const char*);
template Approximation<double> grouped_attention(const Problem<double>&, std::vector<KeyGroup<double>>, const char*);

}  // namespace croquis
