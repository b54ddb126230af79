#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/key_screen.hpp>
#include <croquis/attention/kriged/largest.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/larger_first.hpp>
#include <limits>
#include <numeric>

namespace croquis {
template <typename T>
KeyScreen<T>::KeyScreen(const KrigedInput<T>& input, const ScreenSizes& sizes)
    : rows_(input.key_rows()), columns_(input.keys.columns), deviations_(input.key_deviations()), sizes_(sizes) {}

template <typename T>
T KeyScreen<T>::choose(const T* query, const std::vector<std::uint32_t>* without, std::vector<std::uint32_t>& keys,
                       std::vector<T>& scores) const {
  thread_local std::vector<T> weights, sums, part, rest;
  thread_local std::vector<std::uint32_t> terms, left, places;
  const arma::uword p = deviations_.n_elem, each = sizes_.terms, rounds = sizes_.keys.size();
  terms.resize(p);
  std::iota(terms.begin(), terms.end(), 0U);
  weights.resize(p);
  for (arma::uword t = 0; t < p; ++t) weights[t] = std::abs(query[t]) * deviations_[t];
  const auto looked_at = terms.begin() + static_cast<std::ptrdiff_t>(rounds * each);
  std::partial_sort(terms.begin(), looked_at, terms.end(), LargerFirst<T>{weights.data()});

  left.resize(rows_.n_rows);
  std::iota(left.begin(), left.end(), 0U);
  sums.assign(left.size(), T(0));
  for (const std::uint32_t key : keys) sums[key] = kLeftOut<T>;
  for (std::size_t i = 0; without && i < without->size(); ++i) sums[(*without)[i]] = kLeftOut<T>;
  for (arma::uword round = 0; round < rounds; ++round) {
    for (arma::uword i = round * each; i < (round + 1) * each; ++i) {
      const T factor = query[terms[i]];
      const T* coordinate = rows_.colptr(terms[i]);
      if (left.size() == rows_.n_rows) {
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += factor * coordinate[j];
      } else {
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += factor * coordinate[left[j]];
      }
    }
    const arma::uword count = round + 1 < rounds ? sizes_.keys[round + 1] : sizes_.kept;
    if (round + 1 < rounds && count >= left.size()) continue;
    places_of_largest(sums, count, places);
    for (std::size_t j = 0; j < places.size(); ++j) {
      left[j] = left[places[j]];
      sums[j] = sums[places[j]];
    }
    left.resize(places.size());
    sums.resize(places.size());
  }

  // The other terms. That the terms so far are products with 0 is faster than to gather.
  part.assign(p, T(0));
  std::for_each(looked_at, terms.end(), [&](std::uint32_t t) { part[t] = query[t]; });
  rest.resize(left.size());
  dots(part.data(), columns_.memptr(), p, left.data(), left.size(), rest.data());
  T least = std::numeric_limits<T>::infinity();
  for (std::size_t j = 0; j < left.size(); ++j) {
    scores.push_back(sums[j] + rest[j]);
    least = std::min(least, sums[j]);
  }
  keys.insert(keys.end(), left.begin(), left.end());
  return least;
}

template class KeyScreen<float>;
template class KeyScreen<double>;

}  // namespace croquis
