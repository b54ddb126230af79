#include <algorithm>
#include <croquis/linalg/equal_rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <numeric>
#include <vector>

namespace croquis {

template <typename T>
EqualRows equal_rows(const arma::Mat<T>& x) {
  const arma::Mat<T> columns = transposed(x);
  const arma::uword n = columns.n_cols, p = columns.n_rows;
  const auto less = [&](arma::uword a, arma::uword b) {
    return std::lexicographical_compare(columns.colptr(a), columns.colptr(a) + p, columns.colptr(b),
                                        columns.colptr(b) + p);
  };
  std::vector<arma::uword> order(n), first_of(n), first;
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), less);
  for (arma::uword at = 0; at < n; ++at) {
    first_of[order[at]] = at > 0 && !less(order[at - 1], order[at]) ? first_of[order[at - 1]] : order[at];
  }
  EqualRows rows{{}, arma::uvec(n)};
  for (arma::uword i = 0; i < n; ++i) {
    rows.kind[i] = first_of[i] == i ? first.size() : rows.kind[first_of[i]];
    if (first_of[i] == i) first.push_back(i);
  }
  rows.first = arma::uvec(first);
  return rows;
}

template EqualRows equal_rows(const arma::Mat<float>&);
template EqualRows equal_rows(const arma::Mat<double>&);

}  // namespace croquis
