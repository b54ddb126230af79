#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/largest.hpp>
#include <croquis/attention/kriged/near_field.hpp>
#include <numeric>

namespace croquis {

void keys_at(TokenAlignment tokens, arma::uword query, const std::vector<std::int64_t>& offsets,
             std::vector<std::uint32_t>& keys) {
  const auto at = static_cast<std::int64_t>(tokens.query(query)), first = static_cast<std::int64_t>(tokens.key(0)),
             end = static_cast<std::int64_t>(tokens.n());
  keys.clear();
  for (const std::int64_t offset : offsets) {
    if (at + offset >= first && at + offset < end) keys.push_back(static_cast<std::uint32_t>(at + offset - first));
  }
}

template <typename T>
std::vector<T> near_scores(const KrigedInput<T>& input, const ExactRows<T>& rows, arma::uword r,
                           const KeyCells<T>& cells, const arma::Mat<T>& cell_weights) {
  const T* weights = rows.weights.colptr(r);
  const arma::Row<T> of_cells = cell_weights.row(r);
  std::vector<T> scores(input.problem.n_k());
  for (std::size_t j = 0; j < scores.size(); ++j) {
    scores[j] = std::abs(weights[j] - of_cells[cells.cell[j]]) * input.value_norms[j];
  }
  return scores;
}

template <typename T>
std::vector<T> common_scores(const std::vector<std::vector<T>>& scores, std::size_t left_out) {
  std::vector<T> sums(scores.front().size(), T(0)), largest = sums;
  std::size_t rows = 0;
  for (std::size_t r = 0; r < scores.size(); ++r) {
    if (r == left_out) continue;
    ++rows;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const T score = scores[r][j];
      sums[j] += score;
      largest[j] = largest[j] > score ? largest[j] : score;
    }
  }
  for (std::size_t j = 0; rows > 1 && j < sums.size(); ++j) sums[j] -= largest[j];
  return sums;
}

template <typename T>
std::vector<std::uint32_t> best_keys(const std::vector<T>& scores, arma::uword count) {
  std::vector<std::uint32_t> places;
  places_of_largest(scores, count, places);
  return places;
}

template <typename T>
std::vector<double> offset_scores(TokenAlignment tokens, arma::uword query, std::vector<T> near,
                                  const std::vector<std::uint32_t>& listed) {
  for (const std::uint32_t j : listed) near[j] = 0;
  const T most = std::accumulate(near.begin(), near.end(), T(0)) / 4;
  const arma::uword n = tokens.n();
  std::vector<double> scores(2 * n - 1, 0.0);
  for (std::size_t j = 0; j < near.size(); ++j) {
    scores[tokens.key(j) + n - 1 - tokens.query(query)] = static_cast<double>(std::min(near[j], most));
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

template struct NearField<float>;
template struct NearField<double>;
template std::vector<float> near_scores(const KrigedInput<float>&, const ExactRows<float>&, arma::uword,
                                        const KeyCells<float>&, const arma::Mat<float>&);
template std::vector<double> near_scores(const KrigedInput<double>&, const ExactRows<double>&, arma::uword,
                                         const KeyCells<double>&, const arma::Mat<double>&);
template std::vector<float> common_scores(const std::vector<std::vector<float>>&, std::size_t);
template std::vector<double> common_scores(const std::vector<std::vector<double>>&, std::size_t);
template std::vector<std::uint32_t> best_keys(const std::vector<float>&, arma::uword);
template std::vector<std::uint32_t> best_keys(const std::vector<double>&, arma::uword);
template std::vector<double> offset_scores(TokenAlignment, arma::uword, std::vector<float>,
                                           const std::vector<std::uint32_t>&);
template std::vector<double> offset_scores(TokenAlignment, arma::uword, std::vector<double>,
                                           const std::vector<std::uint32_t>&);

}  // namespace croquis
