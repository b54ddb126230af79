// The box of the values: between the smallest and the largest entry of every column.
#pragma once

#include <algorithm>
#include <armadillo>
#include <limits>

namespace croquis {

template <typename T>
struct ValueBox {
  const arma::Row<T>&lowest, &highest;

  /// What rounding may add to an average of the values in column c.
  T slack(arma::uword c) const {
    return 16 * std::numeric_limits<T>::epsilon() * std::max(std::abs(lowest[c]), std::abs(highest[c]));
  }

  /// How far one may go from `inside` to `row` without leaving the box, up to rounding; 0 to 1.
  T part_inside(const arma::Row<T>& inside, const arma::Row<T>& row) const {
    T part = 1;
    for (arma::uword c = 0; c < row.n_elem; ++c) {
      const T step = row[c] - inside[c];
      if (row[c] > highest[c] + slack(c)) part = std::min(part, std::max(T(0), highest[c] - inside[c]) / step);
      if (row[c] < lowest[c] - slack(c)) part = std::min(part, std::min(T(0), lowest[c] - inside[c]) / step);
    }
    return part;
  }
};

}  // namespace croquis
