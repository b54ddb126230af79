// The largest of some values by their places, the first of equals.
#pragma once

#include <algorithm>
#include <armadillo>
#include <vector>

namespace croquis {

/// The order of places by descending values; of equal values the first place comes first, so that no two are equal.
template <typename T>
struct LargerFirst {
  const T* values;

  template <typename Place>
  bool operator()(Place a, Place b) const {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  }
};

/// Keeps of `places` the `count` with the largest values, largest first, or all if there are no more.
/// Cost: O(n log count) comparisons.
template <typename T, typename Place>
void keep_largest(const T* values, arma::uword count, std::vector<Place>& places) {
  count = std::min<arma::uword>(count, places.size());
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(places.begin(), end, places.end(), LargerFirst<T>{values});
  places.erase(end, places.end());
}

}  // namespace croquis
