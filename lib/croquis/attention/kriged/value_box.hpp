// The box of the values: between the smallest and the largest entry of every column.
#pragma once

#include <algorithm>
#include <armadillo>
#include <limits>

namespace croquis {

/// x between low and high; by value, so that loops are vectorised, which std::clamp prevents.
template <typename T>
T clamped(T x, T low, T high) {
  const T below = x < high ? x : high;
  return below > low ? below : low;
}

/// The part of a straight way that stays in the box, and where the way leaves the box: at the largest or the smallest
/// value of a column.
template <typename T>
struct InBox {
  T part = 1;
  arma::uword column = 0;
  bool at_highest = false;
};

/// The box between the smallest and the largest entries of the columns of V. It refers to its arguments.
template <typename T>
struct ValueBox {
  const arma::Row<T>&lowest, &highest;

  /// The most that rounding may add to an average of the values in column c.
  T slack(arma::uword c) const {
    return 16 * std::numeric_limits<T>::epsilon() * std::max(std::abs(lowest[c]), std::abs(highest[c]));
  }

  /// The largest part, from 0 to 1, of the way from `inside` to `row` that does not leave the box, up to rounding.
  InBox<T> part_inside(const arma::Row<T>& inside, const arma::Row<T>& row) const {
    InBox<T> reached;
    const auto end_at = [&](arma::uword c, bool at_highest, T part) {
      if (part < reached.part) reached = {part, c, at_highest};
    };
    for (arma::uword c = 0; c < row.n_elem; ++c) {
      const T step = row[c] - inside[c];
      if (row[c] > highest[c] + slack(c)) end_at(c, true, std::max(T(0), highest[c] - inside[c]) / step);
      if (row[c] < lowest[c] - slack(c)) end_at(c, false, std::min(T(0), lowest[c] - inside[c]) / step);
    }
    return reached;
  }
};

}  // namespace croquis
