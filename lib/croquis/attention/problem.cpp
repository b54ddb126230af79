#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/problem.hpp>
#include <croquis/core/require.hpp>
#include <croquis/linalg/rows.hpp>
#include <limits>
#include <utility>

namespace croquis {
namespace {

constexpr int kSumOfSquares = 64;  // times n squares of norms are finite

template <typename T>
void require_finite(const arma::Mat<T>& m, const char* name) {
  if (m.is_finite()) return;
  const arma::uvec bad = arma::find_nonfinite(m);
  const arma::uword row = bad(0) % m.n_rows, column = bad(0) / m.n_rows;
  require(false, "Problem", "finite entries",
          {{"matrix", name}, {"row", row}, {"column", column}, {"value", m(row, column)}});
}

template <typename T>
void require_finite(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v) {
  require_finite(q, "Q");
  require_finite(k, "K");
  require_finite(v, "V");
}

template <typename T>
void require_finite_norms(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v) {
  const arma::uword n = std::max(q.n_rows, k.n_rows);
  const T square = std::numeric_limits<T>::max() / (kSumOfSquares * static_cast<T>(n));
  const auto is_within = [&](const arma::Mat<T>& m) {
    const arma::Col<T> norms = squared_row_norms(m);
    return norms.is_finite() && norms.max() <= square;
  };
  if (is_within(q) && is_within(k) && is_within(v)) return;
  require_finite(q, k, v);
  const LongestRow longest = longest_row(q, k, v);
  constexpr double below = 0.99;  // rounded to three digits it is still within
  require(false, "Problem",
          fmt::format("rows of norm at most {:.3g}, beyond which sums of squares overflow in {}",
                      below * largest_row_norm<T>(n), sizeof(T) == sizeof(float) ? "float" : "double"),
          {{"matrix", longest.matrix}, {"row", longest.row}, {"norm", longest.norm}});
}

}  // namespace

template <typename T>
double largest_row_norm(arma::uword n) {
  return std::sqrt(static_cast<double>(std::numeric_limits<T>::max()) / (kSumOfSquares * static_cast<double>(n)));
}

template <typename T>
LongestRow longest_row(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v) {
  LongestRow longest;
  for (const auto& [name, m] : {std::pair<std::string_view, const arma::Mat<T>*>{"Q", &q}, {"K", &k}, {"V", &v}}) {
    const arma::vec norms = row_norms(arma::conv_to<arma::mat>::from(*m));
    const arma::uword row = norms.index_max();
    if (longest.matrix.empty() || norms(row) > longest.norm) longest = {name, row, norms(row)};
  }
  return longest;
}

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
  const arma::uword n_q = q.n_rows, n_k = k.n_rows, keys = length.value_or(n_k), queries = n_q == n_k ? keys : n_q;
  require(v.n_rows == n_k && k.n_cols == q.n_cols, "Problem",
          "Q and K of one width, K and V with as many rows as each other",
          {{"Q.rows", n_q}, {"Q.cols", q.n_cols}, {"K.rows", k.n_rows}, {"K.cols", k.n_cols}, {"V.rows", v.n_rows}});
  require(n_q >= 1 && n_k >= 1 && q.n_cols >= 1 && v.n_cols >= 1, "Problem", "n_q, n_k, p, p_v >= 1",
          {{"n_q", n_q}, {"n_k", n_k}, {"p", q.n_cols}, {"p_v", v.n_cols}});
  require(keys >= 1 && keys <= n_k, "Problem", "1 <= length <= n_k", {{"length", keys}, {"n_k", n_k}});
  if (keys < n_k) {  // rows that are left out are looked at all the same
    require_finite(q, k, v);
  }
  require_valid(position, std::max(n_q, n_k));
  position = truncated(position, std::max(n_q, n_k), std::max(queries, keys));
  require(queries <= keys || !has_mask(position, {queries, keys}), "Problem",
          "at least as many keys as queries under a mask (causal, or a bias of -inf), so that each attends to a key",
          {{"n_q", queries}, {"n_k", keys}});
  if (queries < n_q) q.resize(queries, q.n_cols);
  if (keys < n_k) {
    k.resize(keys, k.n_cols);
    v.resize(keys, v.n_cols);
  }
  require_finite_norms(q, k, v);
  data_ = std::make_shared<const Data>(Data{std::move(q), std::move(k), std::move(v), n_q, std::move(position)});
}

template <typename T>
arma::uword Problem<T>::n() const {
  require(is_square(), "Problem", "as many queries as keys", {{"n_q", n_q()}, {"n_k", n_k()}});
  return n_q();
}

template <typename T>
arma::Mat<T> Problem<T>::padded(arma::Mat<T> rows) const {
  require(rows.n_rows == n_q(), "Problem::padded", "one row a query", {{"rows", rows.n_rows}, {"n_q", n_q()}});
  if (padded_n() > n_q()) rows.resize(padded_n(), rows.n_cols);  // new entries are zero
  return rows;
}

template double largest_row_norm<float>(arma::uword);
template double largest_row_norm<double>(arma::uword);
template LongestRow longest_row(const arma::Mat<float>&, const arma::Mat<float>&, const arma::Mat<float>&);
template LongestRow longest_row(const arma::Mat<double>&, const arma::Mat<double>&, const arma::Mat<double>&);
template class Problem<float>;
template class Problem<double>;

}  // namespace croquis
