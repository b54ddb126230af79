#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/near_field.hpp>
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

// The places of the `count` largest, ascending.
template <typename V>
std::vector<std::uint32_t> places_of_largest(const std::vector<V>& values, arma::uword count) {
  std::vector<std::uint32_t> places(values.size());
  std::iota(places.begin(), places.end(), 0U);
  count = std::min<arma::uword>(count, places.size());
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(places.begin(), end, places.end(), [&](std::uint32_t a, std::uint32_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  places.resize(count);
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

bool NearField::lists_key(arma::uword leaf, std::uint32_t key) const {
  return !lists.empty() && std::binary_search(lists[leaf].begin(), lists[leaf].end(), key);
}

template <typename T>
std::vector<std::uint32_t> near_keys(const KrigedInput<T>& input, const ExactRows<T>& rows, arma::uword r,
                                     const KeyCells<T>& cells, const arma::Mat<T>& cell_weights, arma::uword count) {
  return places_of_largest(differences(input, rows, r, cells, cell_weights), count);
}

template <typename T>
std::vector<double> offset_scores(const KrigedInput<T>& input, const ExactRows<T>& rows,
                                  const std::vector<arma::uword>& row, const std::vector<arma::uword>& queries,
                                  const KeyCells<T>& cells, const arma::Mat<T>& cell_weights) {
  const TokenAlignment tokens = input.problem.tokens();
  const arma::uword n = tokens.n();
  std::vector<double> scores(2 * n - 1, 0.0);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const std::vector<T> far = differences(input, rows, row[i], cells, cell_weights);
    const T most = std::accumulate(far.begin(), far.end(), T(0)) / 4;
    for (std::size_t j = 0; j < far.size(); ++j) {
      scores[tokens.key(j) + n - 1 - tokens.query(queries[i])] += static_cast<double>(std::min(far[j], most));
    }
  }
  std::vector<double> smooth(scores);
  for (std::size_t o = 0; o < scores.size(); ++o) {
    if (o > 0) smooth[o] += scores[o - 1] / 2;
    if (o + 1 < scores.size()) smooth[o] += scores[o + 1] / 2;
  }
  return smooth;
}

std::vector<std::int64_t> best_offsets(const std::vector<double>& scores, arma::uword count) {
  std::vector<std::int64_t> offsets;
  for (const std::uint32_t place : places_of_largest(scores, count)) {
    if (scores[place] > 0)
      offsets.push_back(static_cast<std::int64_t>(place) - static_cast<std::int64_t>(scores.size() / 2));
  }
  return offsets;
}

template std::vector<std::uint32_t> near_keys(const KrigedInput<float>&, const ExactRows<float>&, arma::uword,
                                              const KeyCells<float>&, const arma::Mat<float>&, arma::uword);
template std::vector<std::uint32_t> near_keys(const KrigedInput<double>&, const ExactRows<double>&, arma::uword,
                                              const KeyCells<double>&, const arma::Mat<double>&, arma::uword);
template std::vector<double> offset_scores(const KrigedInput<float>&, const ExactRows<float>&,
                                           const std::vector<arma::uword>&, const std::vector<arma::uword>&,
                                           const KeyCells<float>&, const arma::Mat<float>&);
template std::vector<double> offset_scores(const KrigedInput<double>&, const ExactRows<double>&,
                                           const std::vector<arma::uword>&, const std::vector<arma::uword>&,
                                           const KeyCells<double>&, const arma::Mat<double>&);

}  // namespace croquis
