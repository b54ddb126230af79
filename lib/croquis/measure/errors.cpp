#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/measure/errors.hpp>
#include <limits>
#include <stdexcept>
#include <utility>

namespace croquis {

OutputReference::OutputReference(arma::mat exact) : exact_(std::move(exact)) {
  if (!exact_.is_finite()) throw std::runtime_error("the exact output is not finite");
  spectral_ = spectral_norm(exact_);
  frobenius_ = frobenius_norm(exact_);
}

OutputErrors OutputReference::compare(const arma::mat& approximate) const {
  require(arma::size(approximate) == arma::size(exact_), "OutputReference::compare", "outputs of one size",
          {{"rows", approximate.n_rows}, {"exact rows", exact_.n_rows}});
  const arma::mat error = exact_ - approximate;
  OutputErrors errors;
  errors.max_abs = largest_entry(error);
  // The exact output is finite, and a difference may overflow.
  if (!std::isfinite(errors.max_abs) && !approximate.is_finite()) throw std::runtime_error("the output is not finite");
  errors.spectral_abs = spectral_norm(error);
  errors.frobenius_abs = frobenius_norm(error);
  const double undefined = std::numeric_limits<double>::quiet_NaN();
  errors.spectral_rel = spectral_ > 0 ? errors.spectral_abs / spectral_ : undefined;
  errors.frobenius_rel = frobenius_ > 0 ? errors.frobenius_abs / frobenius_ : undefined;
  return errors;
}

namespace {

constexpr LanczosOptions kScores = {.tolerance = 1e-4};

template <typename T>
LinearOperator<double> in_double(const LinearOperator<T>& scores) {
  const auto finite = [](const arma::Mat<T>& product) -> arma::mat {
    if (!product.is_finite()) throw std::runtime_error("the scores are not finite");
    return arma::conv_to<arma::mat>::from(product);
  };
  return {scores.rows, scores.cols,
          [=](const arma::mat& x) { return finite(scores.apply(arma::conv_to<arma::Mat<T>>::from(x))); },
          [=](const arma::mat& x) { return finite(scores.apply_transposed(arma::conv_to<arma::Mat<T>>::from(x))); }};
}

// arma's max() would pass over NaN.
template <typename T>
double largest_deviation(const arma::Mat<T>& sums) {
  return static_cast<double>(largest_entry<T>(sums - T(1)));
}

}  // namespace

ScoreReference::ScoreReference(const Problem<double>& problem, Target target, const Key& draw_key)
    : exact_(exact_scores(problem, target)), spectral_(spectral_norm(exact_, draw_key, kScores).value) {}

template <typename T>
ScoreErrors ScoreReference::compare(const LinearOperator<T>& approximate, const Key& draw_key) const {
  ScoreErrors errors;
  errors.spectral_abs = spectral_norm(difference(exact_, in_double(approximate)), draw_key, kScores).value;
  errors.spectral_rel = spectral_ > 0 ? errors.spectral_abs / spectral_ : std::numeric_limits<double>::quiet_NaN();
  return errors;
}

template <typename T>
double row_sum_deviation(const LinearOperator<T>& scores) {
  const SerialBlas serial;
  const arma::Mat<T> sums = scores.apply(arma::Mat<T>(scores.cols, 1, arma::fill::ones));
  return largest_deviation(sums);
}

template <typename T>
double row_sum_deviation(const Approximation<T>& approximation) {
  if (!approximation.row_sums) return row_sum_deviation(approximation.scores.value());
  return largest_deviation<T>(*approximation.row_sums);
}

template <typename T>
double smallest_denominator(const Denominators<T>& estimated, const arma::vec& log_row_sums) {
  require(estimated.values.n_elem == log_row_sums.n_elem && estimated.log_scale.n_elem == log_row_sums.n_elem,
          "smallest_denominator", "an estimate and its scale for each row sum",
          {{"estimates", estimated.values.n_elem},
           {"scales", estimated.log_scale.n_elem},
           {"row sums", log_row_sums.n_elem}});
  double smallest = std::numeric_limits<double>::infinity();
  for (arma::uword i = 0; i < log_row_sums.n_elem; ++i) {
    const double log_ratio = static_cast<double>(estimated.log_scale(i)) - log_row_sums(i);
    const auto value = static_cast<double>(estimated.values(i));
    const double ratio = value == 0 ? 0 : value * std::exp(log_ratio);  // which may overflow
    if (std::isnan(ratio)) return ratio;
    smallest = std::min(smallest, ratio);
  }
  return smallest;
}

template ScoreErrors ScoreReference::compare(const LinearOperator<float>&, const Key&) const;
template ScoreErrors ScoreReference::compare(const LinearOperator<double>&, const Key&) const;
template double row_sum_deviation(const LinearOperator<float>&);
template double row_sum_deviation(const LinearOperator<double>&);
template double row_sum_deviation(const Approximation<float>&);
template double row_sum_deviation(const Approximation<double>&);
template double smallest_denominator(const Denominators<float>&, const arma::vec&);
template double smallest_denominator(const Denominators<double>&, const arma::vec&);

}  // namespace croquis
