// The largest of some values.
#pragma once

#include <armadillo>
#include <cstdint>
#include <limits>
#include <vector>

namespace croquis {

/// A value that is never among the largest.
template <typename T>
constexpr T kLeftOut = -std::numeric_limits<T>::infinity();

/// The places of the `count` largest values, ascending; of equal values the first. There are fewer places if the other
/// values are kLeftOut.
/// Cost: three passes. Values are counted in bins between the least and the largest, so that only one bin has to be
///   sorted: five times as fast as std::nth_element.
template <typename T>
void places_of_largest(const std::vector<T>& values, arma::uword count, std::vector<std::uint32_t>& places);

/// The places of the `count` largest values above `bound`, largest first; of equal values the first.
template <typename T>
std::vector<arma::uword> places_above(const arma::Col<T>& values, T bound, arma::uword count);

}  // namespace croquis
