#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/random/cumulative.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sampling/rp_cholesky.hpp>
#include <limits>
#include <vector>

namespace croquis {
namespace {

constexpr arma::uword kBlock = 32;

// Points that are proposed together, each with a uniform number that decides whether it is accepted.
struct Proposals {
  arma::uvec points;
  std::vector<double> chances;
};

// Proposals first ... first + kBlock - 1.
Proposals proposals_of(const CumulativeWeights& cumulative, const Key& draw_key, std::uint64_t first) {
  Proposals proposed{arma::uvec(kBlock), std::vector<double>(kBlock)};
  for (arma::uword i = 0; i < kBlock; ++i) {
    const auto w = draw_key.block(first + i);
    proposed.points(i) = cumulative.index_of(uniform_of(w[0], w[1]));
    proposed.chances[i] = uniform_of(w[2], w[3]);
  }
  return proposed;
}

// m(rows, 0 ... count-1).
template <typename T>
arma::Mat<T> first_columns(const arma::Mat<T>& m, const arma::uvec& rows, arma::uword count) {
  return m.submat(rows, arma::regspace<arma::uvec>(0, count - 1));
}

// e^{l_i} r_i relative to the largest, and 0 where r_i <= least_i.
template <typename T>
arma::vec weighted_residual(const arma::Col<T>& residual, const arma::Col<T>& least, const arma::Col<T>& log_weights) {
  arma::vec chances(residual.n_elem);
  constexpr double none = -std::numeric_limits<double>::infinity();
  for (arma::uword i = 0; i < chances.n_elem; ++i) {
    chances(i) = residual(i) > least(i)
                     ? static_cast<double>(log_weights(i)) + std::log(static_cast<double>(residual(i)))
                     : none;
  }
  const double top = chances.max();
  for (double& chance : chances) chance = chance > none ? std::exp(chance - top) : 0;
  return chances;
}

// Of a block of proposals those that are accepted, at most `most`, and the Cholesky factor of the residual matrix of
// their points.
template <typename T>
struct Accepted {
  arma::uvec places;
  arma::Mat<T> factor;
};

// `block` is the residual matrix of the proposals, and `start` their residuals, which are rounding up to `least`. A
// proposal is accepted with the part of its residual that the pivots accepted before it leave, and is then eliminated
// from the others.
template <typename T>
Accepted<T> accepted_of(const Proposals& proposed, const arma::Mat<T>& block, const arma::Col<T>& start,
                        const arma::Col<T>& least, arma::uword most) {
  arma::Col<T> left = start;
  arma::Mat<T> lower(kBlock, kBlock, arma::fill::zeros);  // columns: the Cholesky vectors of the accepted pivots
  std::vector<arma::uword> places;
  for (arma::uword i = 0; i < kBlock && places.size() < most; ++i) {
    if (left(i) <= least(i) || proposed.chances[i] * static_cast<double>(start(i)) > static_cast<double>(left(i)))
      continue;
    const arma::uword t = places.size();
    arma::Col<T> column = block.col(i);
    if (t > 0) column -= lower.head_cols(t) * lower.row(i).head(t).t();
    column /= std::sqrt(left(i));
    column(i) = std::sqrt(left(i));
    lower.col(t) = column;
    left -= arma::square(column);
    left.elem(arma::find(proposed.points == proposed.points(i))).zeros();  // a pivot is never accepted again
    places.push_back(i);
  }
  const arma::uvec where(places);
  return {where, first_columns(lower, where, places.size())};
}

}  // namespace

template <typename T>
PivotedCholesky<T> rp_cholesky(const KernelMatrix<T>& matrix, arma::uword d, const Key& draw_key,
                               const arma::Col<T>& log_weights) {
  const SerialBlas serial;
  const arma::uword n = matrix.n;
  require(d >= 1 && d <= n, "rp_cholesky", "1 <= d <= n", {{"d", d}, {"n", n}});
  const Key proposals = draw_key.child("proposal");
  PivotedCholesky<T> result{{}, arma::Mat<T>(n, d), matrix.diagonal};
  std::vector<arma::uword> pivots;
  const bool weighted = !log_weights.is_empty();
  require(!weighted || log_weights.n_elem == n, "rp_cholesky", "a weight for every point",
          {{"weights", log_weights.n_elem}, {"n", n}});
  constexpr T infinite = std::numeric_limits<T>::infinity();
  require(std::all_of(log_weights.begin(), log_weights.end(), [](T l) { return l < infinite; }), "rp_cholesky",
          "logarithms of weights that are numbers, or -inf");
  const double rounding =
      static_cast<double>(d) * std::numeric_limits<T>::epsilon() * static_cast<double>(matrix.entry_error());
  const double stop = weighted ? 0 : static_cast<double>(arma::accu(matrix.diagonal)) * rounding;
  const arma::Col<T> least = static_cast<T>(weighted ? rounding : 0) * matrix.diagonal;
  for (std::uint64_t first = 0; pivots.size() < d; first += kBlock) {
    const CumulativeWeights cumulative(weighted ? weighted_residual(result.residual, least, log_weights)
                                                : arma::conv_to<arma::vec>::from(result.residual));
    if (cumulative.total() <= stop) break;

    const Proposals proposed = proposals_of(cumulative, proposals, first);
    const arma::uword taken_before = pivots.size();
    arma::Mat<T> block = matrix.block(proposed.points, proposed.points);
    if (taken_before > 0) {
      const arma::Mat<T> rows = first_columns(result.factor, proposed.points, taken_before);
      block -= rows * rows.t();
    }
    const Accepted<T> accepted =
        accepted_of<T>(proposed, block, result.residual(proposed.points), least(proposed.points), d - taken_before);
    // The new columns of F for all points: (M(:, T) - F F(T, :)^T) L^-T.
    const arma::uvec chosen = proposed.points(accepted.places);
    arma::Mat<T> columns = matrix.columns(chosen);
    if (taken_before > 0) {
      const arma::Mat<T> rows = first_columns(result.factor, chosen, taken_before);
      columns -= result.factor.head_cols(taken_before) * rows.t();
    }
    columns = arma::solve(arma::trimatl(accepted.factor), columns.t()).t();
    result.factor.cols(taken_before, taken_before + chosen.n_elem - 1) = columns;
    result.residual -= arma::sum(arma::square(columns), 1);
    result.residual.clamp(0, std::numeric_limits<T>::max());
    pivots.insert(pivots.end(), chosen.begin(), chosen.end());
    for (const arma::uword p : pivots) result.residual(p) = 0;
  }
  result.pivots = arma::uvec(pivots);
  result.factor = arma::Mat<T>(result.factor.head_cols(pivots.size()));
  return result;
}

template PivotedCholesky<float> rp_cholesky(const KernelMatrix<float>&, arma::uword, const Key&,
                                            const arma::Col<float>&);
template PivotedCholesky<double> rp_cholesky(const KernelMatrix<double>&, arma::uword, const Key&,
                                             const arma::Col<double>&);

}  // namespace croquis
