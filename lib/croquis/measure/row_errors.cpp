#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/measure/row_errors.hpp>
#include <croquis/stats/summary.hpp>
#include <vector>

namespace croquis {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

void require_same_size(const arma::mat& exact, const arma::mat& approximate, const char* where) {
  require(arma::size(exact) == arma::size(approximate), where, "matrices of one size",
          {{"rows", approximate.n_rows}, {"exact rows", exact.n_rows}});
}

// The divergence of one row, NaN where b~ is no distribution.
double divergence(const arma::rowvec& b, const arma::rowvec& near) {
  constexpr double least = -1e-9, gap = 1e-4;
  double sum = 0, total = 0;
  for (arma::uword j = 0; j < b.n_elem; ++j) {
    if (!(near(j) >= least)) return kNoNumber;
    total += near(j);
    if (!(near(j) > 0)) continue;
    const double quotient = near(j) / b(j);  // overflows for subnormal b
    sum += near(j) * (std::isfinite(quotient) ? std::log(quotient) : std::log(near(j)) - std::log(b(j)));
  }
  return std::abs(total - 1) <= gap ? sum : kNoNumber;
}

}  // namespace

RowErrors row_errors(const arma::mat& exact, const arma::mat& approximate) {
  require_same_size(exact, approximate, "row_errors");
  std::vector<double> relative, cosines;
  for (arma::uword i = 0; i < exact.n_rows; ++i) {
    const double length = arma::norm(exact.row(i)), other = arma::norm(approximate.row(i));
    if (!(length > 0)) continue;
    relative.push_back(arma::norm(exact.row(i) - approximate.row(i)) / length);
    // Of unit rows, so that no product overflows.
    cosines.push_back(other > 0 ? arma::dot(exact.row(i) / length, approximate.row(i) / other) : 0);
  }
  if (relative.empty()) return {kNoNumber, kNoNumber, kNoNumber, kNoNumber, kNoNumber, kNoNumber};
  std::sort(relative.begin(), relative.end());
  const Summary angles = summarise(std::move(cosines));
  return {quantile(relative, 0.5),
          quantile(relative, 0.9),
          quantile(relative, 0.99),
          relative.back(),
          angles.mean,
          angles.q10};
}

RowDivergences row_divergences(const arma::mat& exact, const arma::mat& approximate) {
  require_same_size(exact, approximate, "row_divergences");
  std::vector<double> divergences;
  for (arma::uword i = 0; i < exact.n_rows; ++i) {
    divergences.push_back(divergence(exact.row(i), approximate.row(i)));
    if (std::isnan(divergences.back())) return {};
  }
  if (divergences.empty()) return {};
  const Summary summary = summarise(std::move(divergences));
  return {summary.mean, summary.q90};
}

TailErrors tail_errors(const arma::mat& exact, const arma::mat& approximate, const arma::mat& values) {
  require_same_size(exact, approximate, "tail_errors");
  require(exact.n_cols == values.n_rows, "tail_errors", "a value for every key",
          {{"keys", exact.n_cols}, {"values", values.n_rows}});
  constexpr double gap = 1e-4;
  const SerialBlas serial;
  arma::mat head = exact;
  for (arma::uword e = 0; e < head.n_elem; ++e) {
    if (approximate[e] == 0) head[e] = 0;
  }
  const arma::mat tail = exact - head, in_head = head * values, in_tail = tail * values;
  const arma::vec kept = arma::sum(head, 1), left = arma::sum(tail, 1);
  double mass = 0, shift = 0;
  arma::uword shifted = 0;
  for (arma::uword i = 0; i < exact.n_rows; ++i) {
    if (!(arma::accu(arma::abs(kept(i) * approximate.row(i) - head.row(i))) <= gap * kept(i))) return {};
    mass += left(i);
    const double length = arma::norm(in_head.row(i) + in_tail.row(i));
    if (!(left(i) > 0) || !(kept(i) > 0) || !(length > 0)) continue;
    shift += arma::norm(in_tail.row(i) / left(i) - in_head.row(i) / kept(i)) / length;
    ++shifted;
  }
  if (exact.n_rows == 0) return {};
  return {mass / static_cast<double>(exact.n_rows), shifted > 0 ? shift / static_cast<double>(shifted) : kNoNumber};
}

}  // namespace croquis
