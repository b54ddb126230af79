#include <algorithm>
#include <croquis/claims/skyformer/lift_factor.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/rp_cholesky.hpp>
#include <croquis/stats/search.hpp>
#include <stdexcept>

namespace croquis::claims {
namespace {

constexpr double kCut = 1e-3;  // e / lambda

void require_ridge(double lambda) {
  require(lambda > 0, "LiftFactor", "lambda > 0", {{"lambda", lambda}});
}

}  // namespace

LiftFactor::LiftFactor(const Problem<double>& problem, const Key& draw_key) {
  const SerialBlas serial;
  const auto kernel = LiftedPoints<double>(problem.Q(), problem.K()).kernel();
  const auto cholesky = rp_cholesky(kernel, std::min<arma::uword>(kernel.n, 1024), draw_key);
  residual_ = arma::accu(cholesky.residual);
  arma::mat vectors;
  if (!arma::eig_sym(values_, vectors, arma::symmatu(cholesky.factor.t() * cholesky.factor))) {
    throw std::runtime_error("LiftFactor: the eigenvalue solver failed");
  }
  factor_ = cholesky.factor * arma::fliplr(vectors);
  values_ = arma::clamp(arma::reverse(values_), 0.0, arma::datum::inf);
}

arma::vec LiftFactor::leverage(double lambda) const {
  require_ridge(lambda);
  const SerialBlas serial;
  return arma::square(factor_) * (1 / (values_ + lambda));
}

arma::mat LiftFactor::leverage_factor(double lambda, double cut) const {
  require_ridge(lambda);
  const arma::vec weights = values_ / (values_ + lambda);
  const arma::uvec kept = arma::find(weights >= cut);
  arma::mat rows = factor_.cols(kept).t();
  rows.each_col() /= arma::sqrt(values_(kept) + lambda);
  return rows;
}

arma::uword LiftFactor::rank(double lambda) const {
  if (residual_ > 0.5 * kCut * lambda) return points();
  return std::max<arma::uword>(1, arma::accu(values_ > 0.5 * kCut * lambda));
}

arma::uword LiftFactor::sufficient(double lambda, arma::uword most, const Key& draw_key, bool queries_only) const {
  const SerialBlas serial;
  const double e = kCut * lambda;
  const arma::uword kept = std::min(rank(lambda), values_.n_elem);
  const double dropped = (kept < values_.n_elem ? values_(kept) : 0) + residual_;
  require(dropped <= e, "LiftFactor::sufficient", "a factor good to 1e-3 lambda",
          {{"dropped", dropped}, {"lambda", lambda}});
  const arma::mat g = factor_.head_cols(kept);
  const arma::vec values = values_.head(kept);
  arma::uvec sequence;
  const auto suffices = [&](arma::uword d) {
    if (sequence.n_elem < d) {
      sequence = sample_with_replacement(queries_only ? n() : points(), std::min(2 * d, most), draw_key);
    }
    const arma::mat rows = g.rows(arma::unique(sequence.head(d)));
    arma::mat gap = (lambda - e) * (rows.t() * rows);
    gap.diag() += (lambda - e) * e - e * values;
    arma::mat lower;
    return arma::chol(lower, arma::symmatu(gap), "lower");
  };
  return smallest_sufficient(1, most, suffices).value_or(most + 1);
}

}  // namespace croquis::claims
