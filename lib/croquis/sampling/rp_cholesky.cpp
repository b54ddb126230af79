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

// Two uniform numbers for each proposal: one chooses the point, the other decides whether it is accepted.
struct Proposal {
  double place, chance;
};

Proposal proposal(const Key& draw_key, std::uint64_t k) {
  const auto w = draw_key.block(k);
  return {uniform_of(w[0], w[1]), uniform_of(w[2], w[3])};
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
  std::uint64_t next = 0;
  while (pivots.size() < d) {
    const CumulativeWeights cumulative(weighted ? weighted_residual(result.residual, least, log_weights)
                                                : arma::conv_to<arma::vec>::from(result.residual));
    if (cumulative.total() <= stop) break;

    arma::uvec proposed(kBlock);
    std::vector<double> chances;
    for (arma::uword& index : proposed) {
      const Proposal p = proposal(proposals, next++);
      index = cumulative.index_of(p.place);
      chances.push_back(p.chance);
    }
    // The residual matrix of the block. Every accepted pivot is eliminated from it in turn.
    const arma::uword taken_before = pivots.size();
    arma::Mat<T> block = matrix.block(proposed, proposed);
    if (taken_before > 0) {
      const arma::Mat<T> rows = first_columns(result.factor, proposed, taken_before);
      block -= rows * rows.t();
    }
    const arma::Col<T> start = result.residual(proposed);
    arma::Col<T> left = start;
    arma::Mat<T> lower(kBlock, kBlock,
                       arma::fill::zeros);  // its columns are the Cholesky vectors of the accepted pivots
    std::vector<arma::uword> taken;
    for (arma::uword i = 0; i < kBlock && taken_before + taken.size() < d; ++i) {
      if (left(i) <= least(proposed(i)) || chances[i] * static_cast<double>(start(i)) > static_cast<double>(left(i)))
        continue;
      const arma::uword t = taken.size();
      arma::Col<T> column = block.col(i);
      if (t > 0) column -= lower.head_cols(t) * lower.row(i).head(t).t();
      column /= std::sqrt(left(i));
      column(i) = std::sqrt(left(i));
      lower.col(t) = column;
      left -= arma::square(column);
      left.elem(arma::find(proposed == proposed(i))).zeros();  // a pivot is never accepted again
      taken.push_back(i);
    }
    // The new columns of F for all points: (M(:, T) - F F(T, :)^T) L^-T.
    const arma::uvec where(taken);
    const arma::uvec chosen = proposed(where);
    arma::Mat<T> columns = matrix.columns(chosen);
    if (taken_before > 0) {
      const arma::Mat<T> rows = first_columns(result.factor, chosen, taken_before);
      columns -= result.factor.head_cols(taken_before) * rows.t();
    }
    const arma::Mat<T> triangle = first_columns(lower, where, taken.size());
    columns = arma::solve(arma::trimatl(triangle), columns.t()).t();
    result.factor.cols(taken_before, taken_before + taken.size() - 1) = columns;
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
