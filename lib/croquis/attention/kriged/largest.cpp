#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/largest.hpp>
#include <croquis/linalg/larger_first.hpp>

namespace croquis {

namespace {

constexpr int kBins = 255;         // and bin 0 for kLeftOut
constexpr std::size_t kLanes = 4;  // counts of their own, as a count waits for the one before in the same bin

// The bin of each value, by its place between the least and the largest.
template <typename T>
void find_bins(const T* values, std::size_t count, std::uint8_t* bin) {
  T low = std::numeric_limits<T>::infinity(), high = kLeftOut<T>;
#pragma omp simd reduction(min : low) reduction(max : high)  // which std::min prevents, as it returns a reference
  for (std::size_t j = 0; j < count; ++j) {
    const T value = values[j], finite = value == kLeftOut<T> ? std::numeric_limits<T>::infinity() : value;
    low = finite < low ? finite : low;
    high = value > high ? value : high;
  }
  const T span = high - low, scale = T(kBins - 1) / span;
  if (!(span > 0) || !std::isfinite(span) || !std::isfinite(scale)) {  // all in one
    for (std::size_t j = 0; j < count; ++j) bin[j] = values[j] == kLeftOut<T> ? 0 : 1;
    return;
  }
#pragma omp simd
  for (std::size_t j = 0; j < count; ++j) {
    const T above = (values[j] > low ? values[j] - low : T(0)) * scale;
    const int place = 1 + static_cast<int>(above);
    bin[j] = static_cast<std::uint8_t>(values[j] == kLeftOut<T> ? 0 : place);
  }
}

}  // namespace

template <typename T>
void places_of_largest(const std::vector<T>& values, arma::uword count, std::vector<std::uint32_t>& places) {
  thread_local std::vector<std::uint8_t> bins;
  thread_local std::vector<std::uint32_t> borders;
  std::vector<std::uint32_t>& border = borders;  // found once: code of a shared library asks at each use of a name
  const std::size_t n = values.size();
  for (auto* kept : {&border, &places}) kept->resize(n);
  bins.resize(n);
  std::uint8_t* const bin = bins.data();  // a byte that is written could be a vector's pointer, for all that C++ knows
  find_bins(values.data(), n, bin);
  std::uint32_t counts[kLanes][kBins + 1] = {};
  for (std::size_t j = 0; j < n; ++j) ++counts[j % kLanes][bin[j]];
  std::uint32_t* const sizes = counts[0];
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    for (int b = 0; b <= kBins; ++b) sizes[b] += counts[lane][b];
  }
  int last = kBins;
  arma::uword above = 0;
  for (; last > 1 && above + sizes[last] < count; --last) above += sizes[last];
  // Every place is written, and the end moves on if it counts, so that no jump depends on the data.
  std::uint32_t *const found = places.data(), *const undecided = border.data();
  std::size_t found_size = 0, undecided_size = 0;
  for (std::size_t j = 0; j < n; ++j) {
    found[found_size] = undecided[undecided_size] = static_cast<std::uint32_t>(j);
    found_size += bin[j] > last;
    undecided_size += bin[j] == last;
  }
  places.resize(found_size);
  border.resize(undecided_size);
  keep_largest(values.data(), count - above, border);
  std::sort(border.begin(), border.end());
  places.insert(places.end(), border.begin(), border.end());
  std::inplace_merge(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(found_size), places.end());
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
