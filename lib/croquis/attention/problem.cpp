#include <cmath>
#include <croquis/attention/problem.hpp>
#include <croquis/core/require.hpp>
#include <utility>

namespace croquis {
namespace {

template <typename T>
void require_finite(const arma::Mat<T>& m, const char* name) {
  if (m.is_finite()) return;
  const arma::uvec bad = arma::find_nonfinite(m);
  const arma::uword row = bad(0) % m.n_rows, column = bad(0) / m.n_rows;
  require(false, "Problem", "finite entries",
          {{"matrix", name}, {"row", row}, {"column", column}, {"value", m(row, column)}});
}

}  // namespace

std::string_view name_of(Target target) {
  switch (target) {
    case Target::softmax:
      return "softmax";
    case Target::kernelized:
      return "kernelized";
    case Target::normalized:
      return "normalized";
    case Target::softmax_rpe:
      return "softmax-rpe";
    case Target::normalized_rpe:
      return "normalized-rpe";
  }
  return "";
}

template <typename T>
Problem<T>::Problem(arma::Mat<T> q, arma::Mat<T> k, arma::Mat<T> v, std::optional<arma::uword> length,
                    RelativePosition<T> position) {
  const arma::uword n = q.n_rows, m = length.value_or(n);
  require(k.n_rows == n && v.n_rows == n && k.n_cols == q.n_cols, "Problem",
          "Q and K of one size and V with as many rows",
          {{"Q.rows", n}, {"Q.cols", q.n_cols}, {"K.rows", k.n_rows}, {"K.cols", k.n_cols}, {"V.rows", v.n_rows}});
  require(n >= 1 && q.n_cols >= 1 && v.n_cols >= 1, "Problem", "n, p, p_v >= 1",
          {{"n", n}, {"p", q.n_cols}, {"p_v", v.n_cols}});
  require(m >= 1 && m <= n, "Problem", "1 <= length <= n", {{"length", m}, {"n", n}});
  require_finite(q, "Q");
  require_finite(k, "K");
  require_finite(v, "V");
  require_valid(position, n);
  position = cut(position, n, m);
  if (m < n) {
    q.resize(m, q.n_cols);
    k.resize(m, k.n_cols);
    v.resize(m, v.n_cols);
  }
  data_ = std::make_shared<const Data>(Data{std::move(q), std::move(k), std::move(v), n, std::move(position)});
}

template <typename T>
arma::Mat<T> Problem<T>::padded(arma::Mat<T> rows) const {
  require(rows.n_rows == n(), "Problem::padded", "one row a token", {{"rows", rows.n_rows}, {"n", n()}});
  if (padded_n() > n()) rows.resize(padded_n(), rows.n_cols);  // new entries are zero
  return rows;
}

template class Problem<float>;
template class Problem<double>;

}  // namespace croquis
