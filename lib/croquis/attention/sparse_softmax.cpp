#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/core/interruption.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <memory>
#include <utility>

namespace croquis {
namespace {
constexpr arma::uword kQueriesOfPattern = 64;
}

void Pattern::add(std::vector<std::uint32_t>& keys, bool count) {
  if (queries() % kQueriesOfPattern == 0) throw_if_interrupted();
  const arma::uword end = visible(queries());
  if (!std::is_sorted(keys.begin(), keys.end())) std::sort(keys.begin(), keys.end());
  for (std::size_t e = 0; e < keys.size() && keys[e] < end; ++e) {
    if (e == 0 || keys[e] != keys[e - 1]) {
      key_.push_back(keys[e]);
      multiplicity_.push_back(1);
    } else if (count) {
      ++multiplicity_.back();
    }
  }
  if (key_.size() == start_.back()) {
    key_.push_back(static_cast<std::uint32_t>(own(queries())));
    multiplicity_.push_back(1);
  }
  start_.push_back(key_.size());
}

void Pattern::add_all() {
  if (queries() % kQueriesOfPattern == 0) throw_if_interrupted();
  const arma::uword end = visible(queries());
  for (arma::uword j = 0; j < end; ++j) key_.push_back(static_cast<std::uint32_t>(j));
  multiplicity_.resize(key_.size(), 1);
  start_.push_back(key_.size());
}

template <typename T>
double most_visits(const Problem<T>& problem, double d) {
  const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k());
  if (!problem.is_causal()) return n_q * std::min(d, n_k);
  const double before = n_k - n_q;
  const double fewer = std::clamp(d - before - 1, 0.0, n_q);  // the queries that may meet fewer than d keys
  const double whole = std::floor(fewer);
  return whole * (before + (whole + 1) / 2) + (n_q - whole) * std::min(d, n_k);
}

template <typename T>
PatternWeights<T> pattern_weights(const arma::Mat<T>& q, const arma::Mat<T>& k, const Pattern& pattern) {
  const arma::uword n_q = q.n_rows;
  require(pattern.queries() == n_q && pattern.tokens().n_k == k.n_rows, "sparse_softmax",
          "a pattern row for every query", {{"pattern", pattern.queries()}, {"n_q", n_q}, {"n_k", k.n_rows}});
  PatternWeights<T> weights{{}, arma::Col<T>(n_q), arma::Col<T>(n_q)};
  SparseColumns<T>& rows = weights.rows;
  rows.rows = k.n_rows;
  rows.cols = n_q;
  rows.index.resize(pattern.visits());
  rows.value.resize(pattern.visits());
  for (arma::uword i = 0; i <= n_q; ++i) rows.start.push_back(pattern.start(i));

  const arma::Mat<T> queries = transposed(q), keys = transposed<T>(scaled(k, 1 / std::sqrt(static_cast<T>(k.n_cols))));
  parallel_for(blocks_of(n_q, kQueriesOfPattern), [&](std::size_t block) {
    for (arma::uword i = block * kQueriesOfPattern; i < std::min(n_q, (block + 1) * kQueriesOfPattern); ++i) {
      const std::size_t first = pattern.start(i), count = pattern.start(i + 1) - first;
      T* row = rows.value.data() + first;
      for (std::size_t e = first; e < first + count; ++e) rows.index[e] = pattern.key(e);
      dots(queries.colptr(i), keys.memptr(), keys.n_rows, rows.index.data() + first, count, row);
      for (std::size_t e = 0; e < count; ++e) {
        if (pattern.multiplicity(first + e) > 1) row[e] += std::log(static_cast<T>(pattern.multiplicity(first + e)));
      }
      weights.top(i) = maximum(row, count);
      weights.sums(i) = exp_shifted(row, count, weights.top(i));
    }
  });
  return weights;
}

template <typename T>
Approximation<T> from_divided(PatternWeights<T> weights, const Problem<T>& problem) {
  struct Factors {
    SparseColumns<T> rows;
    arma::Mat<T> apply(const arma::Mat<T>& x) const { return rows.transposed_times(x); }
    arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const { return rows.times(x); }
  };
  const auto factors = std::make_shared<const Factors>(Factors{std::move(weights.rows)});
  Approximation<T> approximation = from_scores(operator_of<T>(problem.n_q(), problem.n_k(), factors), problem);
  approximation.denominators = Denominators<T>{std::move(weights.sums), std::move(weights.top)};
  return approximation;
}

template <typename T>
Approximation<T> sparse_softmax(const arma::Mat<T>& q, const arma::Mat<T>& k, const Problem<T>& problem,
                                const Pattern& pattern) {
  require(q.n_rows == problem.n_q() && k.n_rows == problem.n_k(), "sparse_softmax", "the problem's queries and keys",
          {{"queries", q.n_rows}, {"keys", k.n_rows}});
  PatternWeights<T> weights = pattern_weights(q, k, pattern);
  SparseColumns<T>& rows = weights.rows;
  parallel_for(blocks_of(rows.cols, kQueriesOfPattern), [&](std::size_t block) {
    const arma::uword end = std::min(rows.cols, (block + 1) * kQueriesOfPattern);
    for (arma::uword i = block * kQueriesOfPattern; i < end; ++i) {
      const T share = 1 / weights.sums(i);
      for (std::size_t e = rows.start[i]; e < rows.start[i + 1]; ++e) rows.value[e] *= share;
    }
  });
  return from_divided(std::move(weights), problem);
}

template <typename T>
Approximation<T> softmax_over_all_keys(const Problem<T>& problem) {
  ExactAttention<T> exact = exact_attention(problem, Target::softmax);
  Approximation<T> approximation;
  approximation.output = std::move(exact.output);
  approximation.scores = exact_scores(problem, Target::softmax);
  approximation.denominators = Denominators<T>{std::move(exact.row_sums.sums), std::move(exact.row_sums.maxima)};
  return approximation;
}

template double most_visits(const Problem<float>&, double);
template double most_visits(const Problem<double>&, double);
template PatternWeights<float> pattern_weights(const arma::Mat<float>&, const arma::Mat<float>&, const Pattern&);
template PatternWeights<double> pattern_weights(const arma::Mat<double>&, const arma::Mat<double>&, const Pattern&);
template Approximation<float> from_divided(PatternWeights<float>, const Problem<float>&);
template Approximation<double> from_divided(PatternWeights<double>, const Problem<double>&);
template Approximation<float> sparse_softmax(const arma::Mat<float>&, const arma::Mat<float>&, const Problem<float>&,
                                             const Pattern&);
template Approximation<double> sparse_softmax(const arma::Mat<double>&, const arma::Mat<double>&,
                                              const Problem<double>&, const Pattern&);
template Approximation<float> softmax_over_all_keys(const Problem<float>&);
template Approximation<double> softmax_over_all_keys(const Problem<double>&);

}  // namespace croquis
