#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/sampled_norm.hpp>
#include <limits>
#include <stdexcept>
#include <vector>

namespace croquis {
namespace {

void require_sample(const arma::mat& rows, arma::uword n, std::string_view where) {
  require(rows.n_rows >= 2 * kNormFolds && rows.n_rows <= n, where, "20 <= count <= n",
          {{"count", rows.n_rows}, {"n", n}});
}

double share_of_all(arma::uword count, arma::uword n) {
  return static_cast<double>(count) / static_cast<double>(n);
}

struct Leading {
  double value = 0;
  arma::vec direction;
};

Leading leading(const arma::mat& gram) {
  arma::vec values;
  arma::mat vectors;
  if (!arma::eig_sym(values, vectors, gram)) throw std::runtime_error("sampled norm: the eigenvalue solver failed");
  return {std::max(0.0, values.back()), vectors.tail_cols(1)};
}

arma::vec with_mean_one(arma::vec scores, double mean) {
  if (mean > 0) scores /= mean;
  return scores;
}

}  // namespace

SampledNorm sampled_spectral_norm(const arma::mat& rows, arma::uword n) {
  require_sample(rows, n, "sampled_spectral_norm");
  const SerialBlas serial;
  const double scale = largest_entry(rows), count = static_cast<double>(rows.n_rows);
  if (scale == 0) return {n, 0, 0, arma::vec(rows.n_rows, arma::fill::zeros)};
  std::vector<arma::uvec> folds;
  std::vector<arma::mat> blocks, grams;
  arma::mat whole(rows.n_cols, rows.n_cols, arma::fill::zeros);
  for (arma::uword f = 0; f < kNormFolds; ++f) {
    folds.push_back(arma::regspace<arma::uvec>(f, kNormFolds, rows.n_rows - 1));
    blocks.emplace_back(rows.rows(folds[f]) / scale);
    grams.emplace_back(blocks[f].t() * blocks[f]);
    whole += grams[f];
  }
  arma::vec scores(rows.n_rows);
  for (arma::uword f = 0; f < kNormFolds; ++f) {
    const arma::vec direction = leading(whole - grams[f]).direction;
    scores.elem(folds[f]) = arma::square(arma::vec(blocks[f] * direction));
  }
  const double known = share_of_all(rows.n_rows, n), above = leading(whole).value / count;
  const double crossed = arma::mean(scores), below = std::min(above, known * above + (1 - known) * crossed);
  return {n, scale * std::sqrt(static_cast<double>(n) * std::sqrt(above * below)), std::log(above / below) / 4,
          with_mean_one(std::move(scores), crossed)};
}

SampledNorm sampled_frobenius_norm(const arma::mat& rows, arma::uword n) {
  require_sample(rows, n, "sampled_frobenius_norm");
  const double scale = largest_entry(rows);
  if (scale == 0) return {n, 0, 0, arma::vec(rows.n_rows, arma::fill::zeros)};
  arma::vec squares = arma::sum(arma::square(rows / scale), 1);
  const double mean = arma::mean(squares);
  return {n, frobenius_norm(rows) / std::sqrt(share_of_all(rows.n_rows, n)), 0,
          with_mean_one(std::move(squares), mean)};
}

SampledRatio sampled_ratio(const SampledNorm& numerator, const SampledNorm& denominator, double alpha) {
  const arma::uword count = numerator.shares.n_elem;
  require(numerator.n == denominator.n && count == denominator.shares.n_elem, "sampled_ratio", "norms of one sample",
          {{"rows of the numerator", count}, {"rows of the denominator", denominator.shares.n_elem}});
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  if (!(denominator.value > 0)) return {undefined, {undefined, undefined}, 0};
  SampledRatio ratio{numerator.value / denominator.value, {0, 0}, 0};
  if (ratio.value == 0) return ratio;
  Accumulator contributions;
  for (arma::uword i = 0; i < count; ++i) contributions.add((numerator.shares(i) - denominator.shares(i)) / 2);
  double margin = (numerator.log_spread + denominator.log_spread) / 2;
  if (const double kurtosis = contributions.kurtosis(); std::isfinite(kurtosis)) {
    const auto sampled = static_cast<double>(count);
    const double degrees = std::clamp(sampled / (2 * std::max(kurtosis - 1, 1e-3)), 1.0, sampled - 1);
    const double correction = std::sqrt(1 - share_of_all(count, numerator.n));
    margin += student_quantile(degrees, alpha) * correction * contributions.standard_error();
    ratio.effective_rows = sampled / kurtosis;
  }
  ratio.interval = {ratio.value * std::exp(-margin), ratio.value * std::exp(margin)};
  return ratio;
}

}  // namespace croquis
