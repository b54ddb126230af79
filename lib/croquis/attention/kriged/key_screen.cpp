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
  thread_local std::vector<T> first, sums, part, weights;
  thread_local std::vector<std::uint32_t> terms, candidates, best, chosen;
  const arma::uword p = deviations_.n_elem;
  terms.resize(p);
  std::iota(terms.begin(), terms.end(), 0U);
  weights.resize(p);
  for (arma::uword t = 0; t < p; ++t) weights[t] = std::abs(query[t]) * deviations_[t];
  keep_largest(weights.data(), sizes_.terms, terms);

  first.assign(rows_.n_rows, T(0));
  for (arma::uword i = 0; i < sizes_.first; ++i) {
    const T factor = query[terms[i]];
    const T* coordinate = rows_.colptr(terms[i]);
    for (std::size_t j = 0; j < first.size(); ++j) first[j] += factor * coordinate[j];
  }
  for (const std::uint32_t key : keys) first[key] = kLeftOut<T>;
  for (std::size_t i = 0; without && i < without->size(); ++i) first[(*without)[i]] = kLeftOut<T>;
  places_of_largest(first, sizes_.candidates, candidates);

  // Terms from, ..., to - 1 of the scores of some keys. That the others are products with 0 is faster than to gather.
  const auto more_terms = [&](arma::uword from, arma::uword to, const std::vector<std::uint32_t>& of,
                              std::vector<T>& out) {
    part.assign(p, T(0));
    for (arma::uword i = from; i < to; ++i) part[terms[i]] = query[terms[i]];
    out.resize(of.size());
    dots(part.data(), columns_.memptr(), p, of.data(), of.size(), out.data());
  };
  more_terms(sizes_.first, sizes_.terms, candidates, sums);
  for (std::size_t c = 0; c < candidates.size(); ++c) sums[c] += first[candidates[c]];
  places_of_largest(sums, sizes_.kept, best);
  chosen.clear();
  for (const std::uint32_t c : best) chosen.push_back(candidates[c]);
  more_terms(sizes_.terms, p, chosen, weights);
  T least = std::numeric_limits<T>::infinity();
  for (std::size_t b = 0; b < best.size(); ++b) {
    scores.push_back(sums[best[b]] + weights[b]);
    least = std::min(least, sums[best[b]]);
  }
  keys.insert(keys.end(), chosen.begin(), chosen.end());
  return least;
}

template class KeyScreen<float>;
template class KeyScreen<double>;

}  // namespace croquis
