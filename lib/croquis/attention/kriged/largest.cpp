#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/largest.hpp>
#include <croquis/linalg/larger_first.hpp>

namespace croquis {

template <typename T>
void places_of_largest(const std::vector<T>& values, arma::uword count, std::vector<std::uint32_t>& places) {
  constexpr int bins = 255;  // and bin 0 for kLeftOut
  thread_local std::vector<std::uint8_t> bin;
  thread_local std::vector<std::uint32_t> border;
  places.clear();
  T low = std::numeric_limits<T>::infinity(), high = kLeftOut<T>;
  for (const T value : values) {
    low = std::min(low, value == kLeftOut<T> ? low : value);
    high = std::max(high, value);
  }
  const T span = high - low, scale = T(bins - 1) / span;
  const bool apart = span > 0 && std::isfinite(span) && std::isfinite(scale);  // or all are in one bin
  std::uint32_t sizes[bins + 1] = {};
  bin.resize(values.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    const int place = apart && values[j] != kLeftOut<T> ? static_cast<int>((values[j] - low) * scale) : 0;
    bin[j] = values[j] == kLeftOut<T> ? 0 : static_cast<std::uint8_t>(1 + place);
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
  keep_largest(values.data(), count - above, border);
  std::sort(border.begin(), border.end());
  places.insert(places.end(), border.begin(), border.end());
  std::inplace_merge(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(found), places.end());
}

template <typename T>
std::vector<arma::uword> places_above(const arma::Col<T>& values, T bound, arma::uword count) {
  std::vector<arma::uword> places;
  for (arma::uword i = 0; i < values.n_elem; ++i) {
    if (values[i] > bound) places.push_back(i);
  }
  keep_largest(values.memptr(), count, places);
  return places;
}

template void places_of_largest(const std::vector<float>&, arma::uword, std::vector<std::uint32_t>&);
template void places_of_largest(const std::vector<double>&, arma::uword, std::vector<std::uint32_t>&);
template std::vector<arma::uword> places_above(const arma::Col<float>&, float, arma::uword);
template std::vector<arma::uword> places_above(const arma::Col<double>&, double, arma::uword);

}  // namespace croquis
