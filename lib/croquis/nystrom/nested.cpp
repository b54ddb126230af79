#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/nystrom/nested.hpp>

namespace croquis {

namespace {
constexpr arma::uword kBlock = 64;  // landmarks that are multiplied with the factor in one product
}

NestedNystrom::NestedNystrom(LiftedPoints<double> lift, arma::uvec landmarks, double cutoff)
    : lift_(std::move(lift)), landmarks_(std::move(landmarks)), cutoff_(cutoff), ranks_{0} {
  require(cutoff > 0 && cutoff < 1, "NestedNystrom", "0 < cutoff < 1", {{"cutoff", cutoff}});
  for (const arma::uword i : landmarks_) {
    require(i < lift_.size(), "NestedNystrom", "landmarks below n_q + n_k",
            {{"landmark", i}, {"n_q", lift_.n_q()}, {"n_k", lift_.n_k()}});
  }
}

void NestedNystrom::extend(arma::uword d) {
  const SerialBlas serial;
  require(d <= landmarks_.n_elem, "NestedNystrom", "d at most the number of landmarks",
          {{"d", d}, {"landmarks", landmarks_.n_elem}});
  while (ranks_.size() <= d) {
    // Always whole blocks, so that the numbers do not depend on the order in which values of d are requested.
    const arma::uword first = ranks_.size() - 1, count = std::min(kBlock, landmarks_.n_elem - first);
    const arma::uvec block = landmarks_.subvec(first, first + count - 1);
    const arma::mat given = lift_.given(block);
    const CentredPoints<double> points = lift_.centred(given);
    arma::mat columns = arma::join_cols(gaussian_kernel(lift_.centred_queries(), points),
                                        gaussian_kernel(lift_.centred_keys(), points));
    const arma::uword before = ranks_.back();
    arma::uword rank = before;
    if (rank > 0) {
      const arma::mat rows = factor_->submat(block, arma::regspace<arma::uvec>(0, rank - 1));
      columns -= factor_->head_cols(rank) * rows.t();
    }
    if (factor_->n_cols < rank + count) factor_->resize(lift_.size(), std::max(rank + count, 2 * factor_->n_cols));
    for (arma::uword j = 0; j < count; ++j) {
      arma::vec column = columns.col(j);
      if (rank > before) {
        const auto fresh = factor_->cols(before, rank - 1);
        column -= fresh * fresh.row(block(j)).t();
      }
      const double residual = column(block(j));
      if (residual > cutoff_) factor_->col(rank++) = column / std::sqrt(residual);
      ranks_.push_back(rank);
    }
  }
}

LinearOperator<double> NestedNystrom::scores(arma::uword d) {
  const arma::uword n_q = lift_.n_q(), n_k = lift_.n_k(), r = rank(d);
  if (r == 0) {
    const auto zero = [](arma::uword n) {
      return [n](const arma::mat& x) -> arma::mat { return arma::mat(n, x.n_cols, arma::fill::zeros); };
    };
    return {n_q, n_k, zero(n_q), zero(n_k)};
  }
  const std::shared_ptr<const arma::mat> factor = factor_;
  return {n_q, n_k,
          [factor, n_q, r](const arma::mat& x) -> arma::mat {
            const SerialBlas serial;
            const arma::mat right = factor->submat(n_q, 0, factor->n_rows - 1, r - 1).t() * x;
            return factor->submat(0, 0, n_q - 1, r - 1) * right;
          },
          [factor, n_q, r](const arma::mat& x) -> arma::mat {
            const SerialBlas serial;
            const arma::mat left = factor->submat(0, 0, n_q - 1, r - 1).t() * x;
            return factor->submat(n_q, 0, factor->n_rows - 1, r - 1) * left;
          }};
}

arma::uword NestedNystrom::rank(arma::uword d) {
  extend(d);
  return ranks_[d];
}

}  // namespace croquis
