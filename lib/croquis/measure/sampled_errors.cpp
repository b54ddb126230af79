#include <croquis/attention/exact.hpp>
#include <croquis/core/require.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <croquis/measure/vanishing.hpp>
#include <croquis/random/indices.hpp>
#include <stdexcept>

namespace croquis {

arma::uvec SampledReference::draw_rows(arma::uword n, arma::uword count, const Key& draw_key) {
  require(count >= kFewestRows && count <= n, "SampledReference", "20 <= count <= n", {{"count", count}, {"n", n}});
  return arma::sort(sample_without_replacement(n, count, draw_key));
}

SampledReference::SampledReference(arma::uword n, arma::uvec rows, ExactAttention<double> exact)
    : n_(n),
      rows_(std::move(rows)),
      exact_(std::move(exact.output)),
      log_row_sums_(std::move(exact.log_row_sums)),
      spectral_(sampled_spectral_norm(exact_, n_)),
      frobenius_(sampled_frobenius_norm(exact_, n_)) {}

SampledReference::SampledReference(const Problem<double>& problem, Target target, arma::uword count,
                                   const Key& draw_key)
    : n_(problem.n_q()), rows_(draw_rows(n_, count, draw_key)) {
  *this = SampledReference(n_, rows_, as_reference(exact_attention_rows(problem, target, rows_), problem, target));
}

SampledErrors SampledReference::compare(const arma::mat& approximate) const {
  require(approximate.n_rows == n_ && approximate.n_cols == exact_.n_cols, "SampledReference::compare",
          "outputs of one size", {{"rows", approximate.n_rows}, {"exact rows", n_}});
  return compare_rows(approximate.rows(rows_));
}

SampledErrors SampledReference::compare_rows(const arma::mat& approximate) const {
  require(arma::size(approximate) == arma::size(exact_), "SampledReference::compare_rows", "outputs of one size",
          {{"rows", approximate.n_rows}, {"exact rows", exact_.n_rows}});
  const arma::mat error = exact_ - approximate;
  if (!error.is_finite()) throw std::runtime_error("the output is not finite");
  const SampledNorm spectral = sampled_spectral_norm(error, n_), frobenius = sampled_frobenius_norm(error, n_);
  const SampledRatio spectral_rel = sampled_ratio(spectral, spectral_, kAlpha),
                     frobenius_rel = sampled_ratio(frobenius, frobenius_, kAlpha);
  SampledErrors sampled;
  sampled.errors = {spectral.value, spectral_rel.value, frobenius.value, frobenius_rel.value, largest_entry(error)};
  sampled.spectral_rel = spectral_rel.interval;
  sampled.frobenius_rel = frobenius_rel.interval;
  sampled.spectral_effective_rows = spectral_rel.effective_rows;
  sampled.frobenius_effective_rows = frobenius_rel.effective_rows;
  sampled.rows = rows_.n_elem;
  sampled.n = n_;
  return sampled;
}

}  // namespace croquis
