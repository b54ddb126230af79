#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/input.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <limits>
#include <utility>

namespace croquis {
namespace {

template <typename T>
ColumnRanges<T> ranges_of(const arma::Mat<T>& x) {
  ColumnRanges<T> ranges{arma::Row<T>(x.n_cols), arma::Row<T>(x.n_cols)};
  parallel_for(x.n_cols, x.n_rows, [&](std::size_t c) {
    const T* column = x.colptr(c);
    T low = column[0], high = low;
#pragma omp simd reduction(min : low) reduction(max : high)  // which std::min prevents, as it returns a reference
    for (arma::uword i = 0; i < x.n_rows; ++i) {
      low = column[i] < low ? column[i] : low;
      high = column[i] > high ? column[i] : high;
    }
    ranges.minima[c] = low;
    ranges.maxima[c] = high;
  });
  return ranges;
}

// 1 where squares of squares of the entries, and their sums, are far from the largest and the smallest numbers.
template <typename T>
T size_of(const ColumnRanges<T>& ranges) {
  const T largest = std::max(-ranges.minima.min(), ranges.maxima.max());
  int exponent = 0;
  std::frexp(largest, &exponent);
  const bool moderate = std::abs(exponent) <= std::numeric_limits<T>::max_exponent / 16;
  return largest == 0 || moderate ? T(1) : std::ldexp(T(1), exponent);
}

template <typename T>
Problem<T> of_moderate_values(const Problem<T>& given, T size) {
  if (size == 1) return given;
  return {given.Q(), given.K(), given.V() / size, {}, given.position()};
}

}  // namespace

template <typename T>
KrigedInput<T>::KrigedInput(const Problem<T>& given)
    : given_ranges(ranges_of(given.V())),
      value_size(size_of(given_ranges)),
      value_ranges{given_ranges.minima / value_size, given_ranges.maxima / value_size},
      problem(of_moderate_values(given, value_size)),
      queries(given.Q()),
      keys(given.K()),
      value_mean(column_sums(problem.V()) / static_cast<T>(given.n_k())),
      value_columns(given.p_v() + 1, given.n_k(), arma::fill::none),
      value_norms(given.n_k(), arma::fill::none),
      scale(1 / std::sqrt(static_cast<T>(given.p()))) {
  const arma::Mat<T>& v = problem.V();
  constexpr arma::uword at_once = 64;  // all steps while the values are in cache
  parallel_for(blocks_of(v.n_rows, at_once), 2 * at_once * v.n_cols, [&](std::size_t b) {
    const arma::uword first = b * at_once, count = std::min(at_once, v.n_rows - first), p_v = v.n_cols;
    transpose_block(v.memptr() + first, v.n_rows, count, p_v, value_columns.colptr(first), p_v + 1);
    for (arma::uword j = first; j < first + count; ++j) {
      const T* mean = value_mean.memptr();
      T *column = value_columns.colptr(j), square = 0;
#pragma omp simd reduction(+ : square)
      for (arma::uword c = 0; c < p_v; ++c) {
        column[c] -= mean[c];
        square += column[c] * column[c];
      }
      column[p_v] = 1;
      value_norms[j] = std::sqrt(square);
    }
  });
  lowest = value_ranges.minima - value_mean;
  highest = value_ranges.maxima - value_mean;
  const SerialBlas serial;
  value_rms = arma::norm(value_norms) / std::sqrt(static_cast<T>(v.n_rows));
}

template <typename T>
const arma::Mat<T>& KrigedInput<T>::key_rows() const {
  std::call_once(rows_made_, [&] { key_rows_ = transposed(keys.columns); });
  return key_rows_;
}

template <typename T>
const arma::Col<T>& KrigedInput<T>::key_deviations() const {
  std::call_once(deviations_made_, [&] {
    // Over the largest entry, so that no square overflows; all that matters is which is larger.
    const T largest = largest_entry(keys.columns);
    key_deviations_.zeros(keys.columns.n_rows);
    if (largest > 0) key_deviations_ = arma::sqrt(arma::mean(arma::square(keys.columns / largest), 1));
  });
  return key_deviations_;
}

template <typename T>
ExactRows<T> exact_rows_of(const KrigedInput<T>& input, arma::Mat<T> queries, const std::vector<std::uint32_t>& leaf) {
  const arma::uword n_k = input.problem.n_k();
  require_memory(static_cast<double>(n_k) * static_cast<double>(queries.n_rows) * sizeof(T), "kriged-coreset",
                 {{"n_k", n_k}, {"landmarks", queries.n_rows}});
  ExactRows<T> rows;
  rows.queries = std::move(queries);
  rows.leaf = leaf;
  rows.weights = product_tn<T>(input.keys.columns, input.scale * rows.queries.t());
  rows.log_sums = softmax_columns(rows.weights).logarithms();
  rows.values = product(input.value_columns, rows.weights).t();
  return rows;
}

template <typename T>
ExactRows<T> joined(ExactRows<T> first, const ExactRows<T>& second) {
  first.queries.insert_rows(first.queries.n_rows, second.queries);
  first.weights.insert_cols(first.weights.n_cols, second.weights);
  first.log_sums.insert_rows(first.log_sums.n_rows, second.log_sums);
  first.values.insert_rows(first.values.n_rows, second.values);
  first.leaf.insert(first.leaf.end(), second.leaf.begin(), second.leaf.end());
  return first;
}

template <typename T>
double mean_overlap(const ExactRows<T>& rows) {
  const arma::uword count = rows.weights.n_cols;
  if (count < 2) return 1;
  arma::vec sums(count, arma::fill::zeros);
  parallel_for(count, count * rows.weights.n_rows, [&](std::size_t r) {
    const T* row = rows.weights.colptr(r);
    for (arma::uword s = 0; s < r; ++s) {
      const T* other = rows.weights.colptr(s);
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (arma::uword j = 0; j < rows.weights.n_rows; ++j) sum += static_cast<double>(std::min(row[j], other[j]));
      sums[r] += sum;
    }
  });
  return 2 * arma::accu(sums) / static_cast<double>(count * (count - 1));
}

template <typename T>
arma::Col<T> key_importance(const KrigedInput<T>& input, const ExactRows<T>& rows, const arma::Col<T>& counts) {
  const arma::uword n_k = input.problem.n_k();
  constexpr arma::uword at_once = 1024;
  arma::Col<T> importance(n_k, arma::fill::zeros);
  parallel_for(blocks_of(n_k, at_once), counts.n_elem * at_once, [&](std::size_t b) {
    const arma::uword first = b * at_once, end = std::min(n_k, first + at_once);
    for (arma::uword r = 0; r < counts.n_elem; ++r) {
      const T* weights = rows.weights.colptr(r);
      const T count = counts[r];
      for (arma::uword j = first; j < end; ++j) importance[j] += count * weights[j] * weights[j];
    }
    for (arma::uword j = first; j < end; ++j) importance[j] = std::sqrt(importance[j]) * input.value_norms[j];
  });
  const auto n = static_cast<T>(n_k);
  const T total = arma::accu(importance);
  if (!(total > 0)) return arma::Col<T>(n_k, arma::fill::value(1 / n));
  return T(0.8) / total * importance + T(0.2) / n;
}

template struct KrigedInput<float>;
template struct KrigedInput<double>;
template ExactRows<float> exact_rows_of(const KrigedInput<float>&, arma::Mat<float>, const std::vector<std::uint32_t>&);
template ExactRows<double> exact_rows_of(const KrigedInput<double>&, arma::Mat<double>,
                                         const std::vector<std::uint32_t>&);
template ExactRows<float> joined(ExactRows<float>, const ExactRows<float>&);
template ExactRows<double> joined(ExactRows<double>, const ExactRows<double>&);
template double mean_overlap(const ExactRows<float>&);
template double mean_overlap(const ExactRows<double>&);
template arma::Col<float> key_importance(const KrigedInput<float>&, const ExactRows<float>&, const arma::Col<float>&);
template arma::Col<double> key_importance(const KrigedInput<double>&, const ExactRows<double>&,
                                          const arma::Col<double>&);

}  // namespace croquis
