#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/kernelized_scores.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/equal_rows.hpp>
#include <croquis/linalg/iterative_solve.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/linalg/rows.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

// The change of a denominator by rounding, relative to it, from which on a row is lost.
constexpr double kMostRounding = 0.1;

// (W + gamma I)^+ as an operator, in factors.
template <typename T>
LinearOperator<T> pseudo_inverse_of(const arma::Mat<T>& core, T cutoff, Diagnostics& diagnostics) {
  const arma::uword d = core.n_rows;
  if (std::optional<arma::Mat<T>> root = inverse_root_psd(core, cutoff)) {  // nothing to cut off
    diagnostics.rank = d;
    const auto r = std::make_shared<const arma::Mat<T>>(std::move(*root));
    const auto apply = [r](const arma::Mat<T>& x) { return product(*r, product_tn(*r, x)); };
    return {d, d, apply, apply};
  }
  const auto pinv = std::make_shared<const PseudoInverse<T>>(pseudo_inverse_psd(core, cutoff));
  diagnostics.rank = pinv->rank();
  const auto apply = [pinv](const arma::Mat<T>& x) { return pinv->apply(x); };
  return {d, d, apply, apply};
}

// Changes of these sizes, a column for each bit of a landmark's index, which chooses the sign. So any two landmarks
// (of the first 2^8), whose terms may cancel, have opposite signs in a column.
template <typename T>
arma::Mat<T> changes_of_sizes(const arma::Col<T>& sizes) {
  constexpr arma::uword kMostBits = 8;
  arma::uword bits = 1;
  while (bits < kMostBits && (sizes.n_elem - 1) >> bits != 0) ++bits;
  arma::Mat<T> changes(sizes.n_elem, bits);
  for (arma::uword b = 0; b < bits; ++b) {
    for (arma::uword a = 0; a < sizes.n_elem; ++a) changes(a, b) = (a >> b) % 2 == 1 ? -sizes(a) : sizes(a);
  }
  return changes;
}

}  // namespace

template <typename T>
KernelizedScores<T>::KernelizedScores(LiftedPoints<T> lift, arma::Mat<T> landmarks, arma::uword drawn,
                                      const SkyformerOptions& options)
    : lift_(std::move(lift)), landmarks_(std::move(landmarks)), drawn_(drawn), options_(options) {
  arma::Mat<T> core = gaussian_kernel(lift_.centred(landmarks_));
  core.diag() += static_cast<T>(options.ridge);
  if (options.inverse == SkyformerOptions::Inverse::pinv) {
    core_ = std::make_shared<const arma::Mat<T>>(std::move(core));
    inverse_ = pseudo_inverse_of(*core_, core_cutoff(lift_, drawn), diagnostics_);
    return;
  }
  normalised_ = std::make_shared<const NormalisedCore<T>>(core);
  const InverseIteration iteration = iteration_of(options);
  inverse_ = deferred<T>(core.n_rows, core.n_rows, [=, n = normalised_] {
    return as_operator(n->between(iterative_inverse(n->matrix, iteration).inverse));
  });
}

template <typename T>
arma::Mat<T> KernelizedScores<T>::solve(const arma::Mat<T>& y, Diagnostics& diagnostics, arma::Col<T>* rounding) const {
  diagnostics = diagnostics_;
  if (!normalised_) return inverse_.apply(y);  // the pseudo-inverse
  IterativeSolution<T> z =
      iterative_solve<T>(normalised_->matrix, y.each_col() % normalised_->root, iteration_of(options_));
  diagnostics.residual = z.residual;
  diagnostics.iterations = z.iterations;
  if (rounding) *rounding = z.rounding % normalised_->root;
  return z.solution.each_col() % normalised_->root;
}

template <typename T>
arma::Mat<T> KernelizedScores<T>::gather(const arma::Mat<T>& x) const {
  return gaussian_product<T>(lift_.centred(landmarks_), lift_.centred_keys(), x);
}

template <typename T>
arma::Mat<T> KernelizedScores<T>::spread(const arma::Mat<T>& gathered, const StreamedExtra<T>& extra,
                                         Diagnostics* diagnostics) const {
  Diagnostics known;
  const arma::Mat<T> solved = solve(gathered, diagnostics ? *diagnostics : known);
  return gaussian_product<T>(lift_.centred_queries(), lift_.centred(landmarks_), solved, extra);
}

template <typename T>
arma::Mat<T> KernelizedScores<T>::apply(const arma::Mat<T>& x, const StreamedExtra<T>& extra,
                                        Diagnostics* diagnostics) const {
  return spread(gather(x), extra, diagnostics);
}

template <typename T>
arma::Mat<T> KernelizedScores<T>::spread(const arma::Mat<T>& gathered, arma::Col<T>& last, arma::Col<T>& moved_last,
                                         Diagnostics* diagnostics) const {
  Diagnostics known;
  Diagnostics& found = diagnostics ? *diagnostics : known;
  const arma::uword c = gathered.n_cols - 1;
  const T unit = std::numeric_limits<T>::epsilon(), entry = unit * gaussian_entry_error(lift_.largest_squared_norm());
  arma::Mat<T> solved;  // [Z changes z]
  arma::Mat<T> changes = changes_of_sizes<T>(entry * gathered.col(c));
  const arma::uword after = c + changes.n_cols;
  if (normalised_) {
    arma::Col<T> rounding;
    changes.each_col() += gathered.col(c);
    solved = solve(arma::join_rows(gathered.head_cols(c), changes, gathered.col(c)), found, &rounding);
    rounding -= solved.col(after);
    for (arma::uword b = c; b < after; ++b) solved.col(b) += rounding;
  } else {
    const arma::Mat<T> z = solve(gathered, found);
    const SerialBlas serial;
    changes.each_col() += gathered.col(c) - *core_ * z.col(c);
    solved = arma::join_rows(z.head_cols(c), inverse_.apply(changes), z.col(c));
  }
  // Signs that alternate would cancel in the product as those of z do, where these alternate as well.
  solved.insert_cols(after, arma::Mat<T>(arma::abs(solved.col(after))));  // [Z changes |z| z]
  arma::Mat<T> rows = gaussian_product<T>(lift_.centred_queries(), lift_.centred(landmarks_), solved, {.last = &last});
  moved_last = arma::max(arma::abs(rows.cols(c, after - 1)), 1) + unit * rows.col(after);
  rows.shed_cols(c, after);
  return rows;
}

template <typename T>
LinearOperator<T> KernelizedScores<T>::stored() const {
  const CentredPoints<T> chosen = lift_.centred(landmarks_);
  const auto left = std::make_shared<const arma::Mat<T>>(gaussian_kernel(lift_.centred_queries(), chosen)),
             right = std::make_shared<const arma::Mat<T>>(gaussian_kernel(lift_.centred_keys(), chosen));
  const LinearOperator<T> core = inverse_;
  return {lift_.n_q(), lift_.n_k(),
          [=](const arma::Mat<T>& x) -> arma::Mat<T> { return product(*left, core.apply(product_tn(*right, x))); },
          [=](const arma::Mat<T>& x) -> arma::Mat<T> {
            return product(*right, core.apply_transposed(product_tn(*left, x)));
          }};
}

template <typename T>
DistinctLandmarks<T> distinct_where_it_is_better(const arma::uvec& drawn, const SkyformerOptions& options,
                                                 const std::function<arma::Mat<T>(const arma::uvec&)>& rows_of) {
  if (options.inverse != SkyformerOptions::Inverse::pinv || options.ridge > 0) return {drawn, rows_of(drawn)};
  const arma::uvec indices = arma::unique(drawn);
  const arma::Mat<T> rows = rows_of(indices);
  const arma::uvec first = equal_rows(rows).first;
  return {indices(first), rows.rows(first)};
}

template <typename T>
arma::Col<T> log_prefactors(const arma::Mat<T>& rows) {
  const T scale = T(0.5) / std::sqrt(static_cast<T>(rows.n_cols));
  return scale * squared_row_norms(rows);
}

template <typename T>
arma::Mat<T> weighted_values(const arma::Mat<T>& v, const arma::Col<T>& weights) {
  arma::Mat<T> columns(v.n_rows, v.n_cols + 1, arma::fill::none);
  columns.head_cols(v.n_cols) = v;
  columns.col(v.n_cols).ones();
  multiply_rows(columns, weights);
  return columns;
}

template <typename T>
SoftmaxRows<T> softmax_rows(const KernelizedScores<T>& scores, const arma::Mat<T>& gathered, Diagnostics* diagnostics) {
  SoftmaxRows<T> rows;
  arma::Col<T> moved;
  rows.output = scores.spread(gathered, rows.sums, moved, diagnostics);
  for (arma::uword i = 0; i < moved.n_elem; ++i) {
    const T size = std::abs(rows.sums[i]);
    if (size < kLeastSum<T>) {
      ++rows.zero;
    } else if (!(moved[i] <= T(kMostRounding) * size)) {
      ++rows.rounded;
    }
  }
  divide_rows(rows.output, rows.sums);
  return rows;
}

void require_denominators(arma::uword zero, arma::uword rounded) {
  if (zero > 0) {
    throw std::runtime_error(fmt::format(
        "skyformer-softmax: {} denominators are zero or nearly; keys that matter to those rows underflow", zero));
  }
  if (rounded > 0) {
    throw std::runtime_error(fmt::format(
        "skyformer-softmax: rounding may decide {} rows, which attend to keys so much shorter than others that the "
        "weights of those drown theirs",
        rounded));
  }
}

template class KernelizedScores<float>;
template class KernelizedScores<double>;
template arma::Col<float> log_prefactors(const arma::Mat<float>&);
template arma::Col<double> log_prefactors(const arma::Mat<double>&);
template arma::Mat<float> weighted_values(const arma::Mat<float>&, const arma::Col<float>&);
template DistinctLandmarks<float> distinct_where_it_is_better(
    const arma::uvec&, const SkyformerOptions&, const std::function<arma::Mat<float>(const arma::uvec&)>&);
template DistinctLandmarks<double> distinct_where_it_is_better(
    const arma::uvec&, const SkyformerOptions&, const std::function<arma::Mat<double>(const arma::uvec&)>&);
template arma::Mat<double> weighted_values(const arma::Mat<double>&, const arma::Col<double>&);
template SoftmaxRows<float> softmax_rows(const KernelizedScores<float>&, const arma::Mat<float>&, Diagnostics*);
template SoftmaxRows<double> softmax_rows(const KernelizedScores<double>&, const arma::Mat<double>&, Diagnostics*);

}  // namespace croquis
