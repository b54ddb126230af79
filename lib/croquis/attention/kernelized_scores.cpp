#include <cmath>
#include <croquis/attention/kernelized_scores.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/iterative_solve.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/linalg/rows.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace croquis {
namespace {

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

}  // namespace

template <typename T>
KernelizedScores<T>::KernelizedScores(LiftedPoints<T> lift, arma::Mat<T> landmarks, arma::uword drawn,
                                      const SkyformerOptions& options)
    : lift_(std::move(lift)), landmarks_(std::move(landmarks)), drawn_(drawn), options_(options) {
  arma::Mat<T> core = gaussian_kernel(lift_.centred(landmarks_));
  core.diag() += static_cast<T>(options.ridge);
  if (options.inverse == SkyformerOptions::Inverse::pinv) {
    inverse_ = pseudo_inverse_of(core, core_cutoff(lift_, drawn), diagnostics_);
    return;
  }
  normalised_ = std::make_shared<const NormalisedCore<T>>(core);
  const InverseIteration iteration = iteration_of(options);
  inverse_ = deferred<T>(core.n_rows, core.n_rows, [=, n = normalised_] {
    return as_operator(n->between(iterative_inverse(n->matrix, iteration).inverse));
  });
}

template <typename T>
arma::Mat<T> KernelizedScores<T>::solve(const arma::Mat<T>& y, Diagnostics& diagnostics) const {
  diagnostics = diagnostics_;
  if (!normalised_) return inverse_.apply(y);  // the pseudo-inverse
  IterativeSolution<T> z =
      iterative_solve<T>(normalised_->matrix, y.each_col() % normalised_->root, iteration_of(options_));
  diagnostics.residual = z.residual;
  diagnostics.iterations = z.iterations;
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

arma::uvec distinct_where_it_is_cheaper(const arma::uvec& landmarks, const SkyformerOptions& options) {
  if (options.inverse == SkyformerOptions::Inverse::pinv && options.ridge == 0) return arma::unique(landmarks);
  return landmarks;
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

template class KernelizedScores<float>;
template class KernelizedScores<double>;
template arma::Col<float> log_prefactors(const arma::Mat<float>&);
template arma::Col<double> log_prefactors(const arma::Mat<double>&);
template arma::Mat<float> weighted_values(const arma::Mat<float>&, const arma::Col<float>&);
template arma::Mat<double> weighted_values(const arma::Mat<double>&, const arma::Col<double>&);

}  // namespace croquis
