#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/key_screen.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <limits>
#include <numeric>

namespace croquis {
namespace {

template <typename T>
constexpr T kOut = -std::numeric_limits<T>::infinity();

// The places of the `count` largest values, ascending; ties: the first. None with the value kOut. Values are counted in
// bins between the least and the largest, and only one bin has to be sorted: five times as fast as std::nth_element.
template <typename T>
void places_of_largest(const std::vector<T>& values, arma::uword count, std::vector<std::uint32_t>& places) {
  constexpr int bins = 255;  // and bin 0 for kOut
  thread_local std::vector<std::uint8_t> bin;
  thread_local std::vector<std::uint32_t> border;
  places.clear();
  T low = std::numeric_limits<T>::infinity(), high = kOut<T>;
  for (const T value : values) {
    low = std::min(low, value == kOut<T> ? low : value);
    high = std::max(high, value);
  }
  const T span = high - low, scale = T(bins - 1) / span;
  const bool apart = span > 0 && std::isfinite(span) && std::isfinite(scale);  // or all are in one bin
  std::uint32_t sizes[bins + 1] = {};
  bin.resize(values.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    const int place = apart && values[j] != kOut<T> ? static_cast<int>((values[j] - low) * scale) : 0;
    bin[j] = values[j] == kOut<T> ? 0 : static_cast<std::uint8_t>(1 + place);
    ++sizes[bin[j]];
  }
  int last = bins;
  arma::uword above = 0;
  for (; last > 1 && above + sizes[last] < count; --last) above += sizes[last];
  border.clear();
  places.resize(values.size());
  std::size_t found = 0;
  for (std::uint32_t j = 0; j < bin.size(); ++j) {
    places[found] = j;
    found += bin[j] > last;
    if (bin[j] == last) border.push_back(j);
  }
  places.resize(found);
  const auto more = static_cast<std::ptrdiff_t>(std::min<arma::uword>(count - above, border.size()));
  std::partial_sort(border.begin(), border.begin() + more, border.end(), [&](std::uint32_t a, std::uint32_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  std::sort(border.begin(), border.begin() + more);
  places.insert(places.end(), border.begin(), border.begin() + more);
  std::inplace_merge(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(found), places.end());
}

}  // namespace

template <typename T>
KeyScreen<T>::KeyScreen(const KrigedInput<T>& input, const ScreenSizes& sizes)
    : rows_(input.key_rows),
      columns_(input.keys.columns),
      sizes_(sizes),
      deviations_(columns_.n_rows, arma::fill::zeros) {
  // Over the largest entry, so that no square overflows; all that matters is which is larger.
  const T largest = arma::abs(columns_).max();
  if (largest > 0) deviations_ = arma::sqrt(arma::mean(arma::square(columns_ / largest), 1));
}

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
  std::partial_sort(
      terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(sizes_.terms), terms.end(),
      [&](std::uint32_t a, std::uint32_t b) { return weights[a] != weights[b] ? weights[a] > weights[b] : a < b; });

  first.assign(rows_.n_rows, T(0));
  for (arma::uword i = 0; i < sizes_.first; ++i) {
    const T factor = query[terms[i]];
    const T* coordinate = rows_.colptr(terms[i]);
    for (std::size_t j = 0; j < first.size(); ++j) first[j] += factor * coordinate[j];
  }
  for (const std::uint32_t key : keys) first[key] = kOut<T>;
  for (std::size_t i = 0; without && i < without->size(); ++i) first[(*without)[i]] = kOut<T>;
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
