#include "options/finite.hpp"

#include <fmt/format.h>

#include <cmath>

#include "options/refuse.hpp"

void require_finite_numbers(const arma::mat& matrix, const std::string& where) {
  if (matrix.is_finite()) return;
  const arma::uword place = arma::find_nonfinite(matrix).eval()(0);
  refuse(fmt::format("{}row {}, column {} (from 0) is {}; every number must be finite", where, place % matrix.n_rows,
                     place / matrix.n_rows, std::isnan(matrix(place)) ? "NaN" : "infinite"));
}
