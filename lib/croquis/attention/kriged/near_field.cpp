#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/largest.hpp>
#include <croquis/attention/kriged/near_field.hpp>
#include <limits>
#include <numeric>

namespace croquis {
namespace {

// Of every key, what its weight in the row and its cell's differ by.
template <typename T>
std::vector<T> differences(const KrigedInput<T>& input, const ExactRows<T>& rows, arma::uword r,
                           const KeyCells<T>& cells, const arma::Mat<T>& cell_weights) {
  const T* weights = rows.weights.colptr(r);
  const arma::Row<T> of_cells = cell_weights.row(r);
  std::vector<T> far(input.problem.n_k());
  for (std::size_t j = 0; j < far.size(); ++j) {
    far[j] = std::abs(weights[j] - of_cells[cells.cell[j]]) * input.value_norms[j];
  }
  return far;
}

}  // namespace

template <typename T>
bool NearField<T>::lists_key(arma::uword leaf, std::uint32_t key) const {
  return !lists.empty() && std::binary_search(lists[leaf].begin(), lists[leaf].end(), key);
}

template <typename T>
std::vector<T> near_scores(const KrigedInput<T>& input, const ExactRows<T>& rows, const std::vector<arma::uword>& which,
                           const KeyCells<T>& cells, const arma::Mat<T>& cell_weights) {
  std::vector<T> sums = differences(input, rows, which.front(), cells, cell_weights);
  if (which.size() == 1) return sums;
  std::vector<T> largest = sums;
  for (std::size_t i = 1; i < which.size(); ++i) {
    const std::vector<T> more = differences(input, rows, which[i], cells, cell_weights);
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sums[j] += more[j];
      largest[j] = std::max(largest[j], more[j]);
    }
  }
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] -= largest[j];
  return sums;
}

template <typename T>
std::vector<std::uint32_t> best_keys(const std::vector<T>& scores, arma::uword count) {
  std::vector<std::uint32_t> places;
  places_of_largest(scores, count, places);
  return places;
}

template <typename T>
std::vector<double> offset_scores(const KrigedInput<T>& input, const ExactRows<T>& rows,
                                  const std::vector<arma::uword>& row, const std::vector<arma::uword>& queries,
                                  const KeyCells<T>& cells, const arma::Mat<T>& cell_weights,
                                  const std::vector<std::uint32_t>& listed) {
  const TokenAlignment tokens = input.problem.tokens();
  const arma::uword n = tokens.n();
  std::vector<double> scores(2 * n - 1, 0.0);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    std::vector<T> far = differences(input, rows, row[i], cells, cell_weights);
    for (const std::uint32_t j : listed) far[j] = 0;
    const T most = std::accumulate(far.begin(), far.end(), T(0)) / 4;
    for (std::size_t j = 0; j < far.size(); ++j) {
      scores[tokens.key(j) + n - 1 - tokens.query(queries[i])] += static_cast<double>(std::min(far[j], most));
    }
  }
  constexpr std::size_t half = 7;
  std::vector<double> sums(scores.size() + 1, 0.0), smooth(scores);
  std::partial_sum(scores.begin(), scores.end(), sums.begin() + 1);
  for (std::size_t o = 0; o < scores.size(); ++o) {
    if (o > 0) smooth[o] += scores[o - 1] / 2;
    if (o + 1 < scores.size()) smooth[o] += scores[o + 1] / 2;
    smooth[o] += 0.5 * (sums[std::min(scores.size(), o + half + 1)] - sums[o - std::min(o, half)]);
  }
  return smooth;
}

std::vector<std::int64_t> best_offsets(const std::vector<double>& scores, arma::uword count) {
  std::vector<std::int64_t> offsets;
  for (const std::uint32_t place : best_keys(scores, count)) {
    if (scores[place] > 0)
      offsets.push_back(static_cast<std::int64_t>(place) - static_cast<std::int64_t>(scores.size() / 2));
  }
  return offsets;
}

template <typename T>
std::vector<arma::uword> largest_places(const arma::Col<T>& values, T bound, arma::uword count) {
  std::vector<arma::uword> places;
  for (arma::uword i = 0; i < values.n_elem; ++i) {
    if (values[i] > bound) places.push_back(i);
  }
  count = std::min<arma::uword>(count, places.size());
  std::partial_sort(
      places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count), places.end(),
      [&](arma::uword a, arma::uword b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  places.resize(count);
  return places;
}

template std::vector<arma::uword> largest_places(const arma::Col<float>&, float, arma::uword);
template std::vector<arma::uword> largest_places(const arma::Col<double>&, double, arma::uword);
template struct NearField<float>;
template struct NearField<double>;
template std::vector<float> near_scores(const KrigedInput<float>&, const ExactRows<float>&,
                                        const std::vector<arma::uword>&, const KeyCells<float>&,
                                        const arma::Mat<float>&);
template std::vector<std::uint32_t> best_keys(const std::vector<float>&, arma::uword);
template std::vector<double> near_scores(const KrigedInput<double>&, const ExactRows<double>&,
                                         const std::vector<arma::uword>&, const KeyCells<double>&,
                                         const arma::Mat<double>&);
template std::vector<std::uint32_t> best_keys(const std::vector<double>&, arma::uword);
template std::vector<double> offset_scores(const KrigedInput<float>&, const ExactRows<float>&,
                                           const std::vector<arma::uword>&, const std::vector<arma::uword>&,
                                           const KeyCells<float>&, const arma::Mat<float>&,
                                           const std::vector<std::uint32_t>&);
template std::vector<double> offset_scores(const KrigedInput<double>&, const ExactRows<double>&,
                                           const std::vector<arma::uword>&, const std::vector<arma::uword>&,
                                           const KeyCells<double>&, const arma::Mat<double>&,
                                           const std::vector<std::uint32_t>&);

}  // namespace croquis
