#include <algorithm>
#include <cmath>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/sparse_columns.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <memory>

namespace croquis {
namespace {
constexpr arma::uword kQueriesAtOnce = 64;
}

void Pattern::add(std::vector<std::uint32_t>& keys, bool count) {
  std::sort(keys.begin(), keys.end());
  for (std::size_t e = 0; e < keys.size(); ++e) {
    if (e == 0 || keys[e] != keys[e - 1]) {
      key_.push_back(keys[e]);
      multiplicity_.push_back(1);
    } else if (count) {
      ++multiplicity_.back();
    }
  }
  start_.push_back(key_.size());
}

void Pattern::add_all(arma::uword n) {
  for (arma::uword j = 0; j < n; ++j) key_.push_back(static_cast<std::uint32_t>(j));
  multiplicity_.resize(key_.size(), 1);
  start_.push_back(key_.size());
}

template <typename T>
Approximation<T> sparse_softmax(const arma::Mat<T>& q, const arma::Mat<T>& k, const Problem<T>& problem,
                                const Pattern& pattern) {
  const arma::uword n = problem.n();
  require(pattern.queries() == n && q.n_rows == n && k.n_rows == n, "sparse_softmax", "a pattern row for every query",
          {{"pattern", pattern.queries()}, {"n", n}});
  // Column i of the sparse matrix is row i of B~.
  const auto scores = std::make_shared<SparseColumns<T>>();
  scores->rows = scores->cols = n;
  scores->index.resize(pattern.visits());
  scores->value.resize(pattern.visits());
  for (arma::uword i = 0; i <= n; ++i) scores->start.push_back(pattern.start(i));
  for (std::size_t e = 0; e < pattern.visits(); ++e) scores->index[e] = pattern.key(e);

  const arma::Mat<T> queries = transposed(q),
                     keys = transposed<T>(scaled(k, 1 / std::sqrt(static_cast<T>(problem.p()))));
  Denominators<T> denominators{arma::Col<T>(n), arma::Col<T>(n)};
  parallel_for((n + kQueriesAtOnce - 1) / kQueriesAtOnce, [&](std::size_t block) {
    for (arma::uword i = block * kQueriesAtOnce; i < std::min(n, (block + 1) * kQueriesAtOnce); ++i) {
      const std::size_t first = pattern.start(i), count = pattern.start(i + 1) - first;
      require(count > 0, "sparse_softmax", "at least one key a query", {{"query", i}});
      T* row = scores->value.data() + first;
      dots(queries.colptr(i), keys.memptr(), keys.n_rows, scores->index.data() + first, count, row);
      for (std::size_t e = 0; e < count; ++e) {
        if (pattern.multiplicity(first + e) > 1) row[e] += std::log(static_cast<T>(pattern.multiplicity(first + e)));
      }
      const T top = maximum(row, count), sum = exp_shifted(row, count, top);
      const T share = 1 / sum;
      for (std::size_t e = 0; e < count; ++e) row[e] *= share;
      denominators.values(i) = sum;
      denominators.log_scale(i) = top;
    }
  });
  Approximation<T> approximation =
      from_scores<T>({n, n, [scores](const arma::Mat<T>& x) { return scores->transposed_times(x); },
                      [scores](const arma::Mat<T>& x) { return scores->times(x); }},
                     problem);
  approximation.denominators = std::move(denominators);
  return approximation;
}

template Approximation<float> sparse_softmax(const arma::Mat<float>&, const arma::Mat<float>&, const Problem<float>&,
                                             const Pattern&);
template Approximation<double> sparse_softmax(const arma::Mat<double>&, const arma::Mat<double>&,
                                              const Problem<double>&, const Pattern&);

}  // namespace croquis
