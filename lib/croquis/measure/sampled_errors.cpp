#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <croquis/random/indices.hpp>
#include <limits>
#include <stdexcept>

namespace croquis {
namespace {

// E_g^T E_g of group g, which has the rows g, g + kGroups, ... of E. The rows of E are in the order of the tokens, so
// neighbours, whose errors are similar, belong to different groups.
std::vector<arma::mat> grams_of(const arma::mat& rows) {
  const SerialBlas serial;
  std::vector<arma::mat> grams;
  for (arma::uword g = 0; g < SampledReference::kGroups; ++g) {
    const arma::mat group = rows.rows(arma::regspace<arma::uvec>(g, SampledReference::kGroups, rows.n_rows - 1));
    grams.emplace_back(group.t() * group);
  }
  return grams;
}

arma::mat sum_of(const std::vector<arma::mat>& grams) {
  arma::mat sum(arma::size(grams.front()), arma::fill::zeros);
  for (const arma::mat& gram : grams) sum += gram;
  return sum;
}

double spectral(const arma::mat& gram) {
  const SerialBlas serial;
  return std::sqrt(std::max(0.0, arma::eig_sym(gram).max()));
}

double frobenius(const arma::mat& gram) {
  return std::sqrt(std::max(0.0, arma::trace(gram)));
}

double ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : std::numeric_limits<double>::quiet_NaN();
}

// norm(error) / norm(exact) over all groups, and its jackknife interval. Both norms have the same scale, which cancels.
std::pair<double, Interval> relative(const std::vector<arma::mat>& error, const std::vector<arma::mat>& exact,
                                     double (*norm)(const arma::mat&)) {
  const arma::mat all_error = sum_of(error), all_exact = sum_of(exact);
  const double whole = ratio(norm(all_error), norm(all_exact));
  if (std::isnan(whole)) return {whole, {whole, whole}};
  const auto groups = static_cast<double>(SampledReference::kGroups);
  Accumulator pseudo_values;
  for (std::size_t g = 0; g < error.size(); ++g) {
    const double without = ratio(norm(all_error - error[g]), norm(all_exact - exact[g]));
    pseudo_values.add(groups * whole - (groups - 1) * (std::isnan(without) ? whole : without));
  }
  Interval interval = student_interval(pseudo_values, SampledReference::kAlpha);
  interval.lo = std::max(0.0, interval.lo);
  return {whole, interval};
}

}  // namespace

arma::uvec SampledReference::draw_rows(arma::uword n, arma::uword count, const Key& draw_key) {
  require(count >= kGroups && count <= n, "SampledReference", "20 <= count <= n", {{"count", count}, {"n", n}});
  return arma::sort(sample_without_replacement(n, count, draw_key));
}

SampledReference::SampledReference(arma::uword n, arma::uvec rows, ExactAttention<double> exact)
    : n_(n),
      rows_(std::move(rows)),
      exact_(std::move(exact.output)),
      log_row_sums_(std::move(exact.log_row_sums)),
      exact_grams_(grams_of(exact_)) {}

SampledReference::SampledReference(const Problem<double>& problem, Target target, arma::uword count,
                                   const Key& draw_key)
    : n_(problem.n_q()), rows_(draw_rows(n_, count, draw_key)) {
  *this = SampledReference(n_, rows_, exact_attention_rows(problem, target, rows_));
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
  const std::vector<arma::mat> grams = grams_of(error);
  const double scale = std::sqrt(static_cast<double>(n_) / static_cast<double>(rows_.n_elem));
  SampledErrors sampled;
  sampled.errors.spectral_abs = scale * spectral_norm(error);
  sampled.errors.frobenius_abs = scale * frobenius_norm(error);
  sampled.errors.max_abs = largest_entry(error);
  std::tie(sampled.errors.spectral_rel, sampled.spectral_rel) = relative(grams, exact_grams_, spectral);
  std::tie(sampled.errors.frobenius_rel, sampled.frobenius_rel) = relative(grams, exact_grams_, frobenius);
  return sampled;
}

}  // namespace croquis
