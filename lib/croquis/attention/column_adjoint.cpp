#include <cmath>
#include <croquis/attention/column_adjoint.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <croquis/kernel/softmax_scores.hpp>
#include <croquis/kernel/streamed_adjoint.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/sampling/column_norms.hpp>
#include <utility>

namespace croquis {
namespace {

template <typename T>
class ColumnsBackward {
 public:
  ColumnsBackward(const Problem<T>& problem, const SampledColumns<T>& sampled, arma::Mat<T> cotangent)
      : problem_(problem),
        sampled_(sampled),
        scale_(1 / std::sqrt(static_cast<T>(problem.p()))),
        cotangent_(std::move(cotangent)),
        log_sums_(problem.n_q(), arma::fill::zeros),
        gradient_{arma::Mat<T>(problem.n_q(), problem.p(), arma::fill::zeros),
                  arma::Mat<T>(problem.n_k(), problem.p(), arma::fill::zeros),
                  arma::Mat<T>(problem.n_k(), problem.p_v(), arma::fill::zeros),
                  {}} {}

  Gradient<T> run() && {
    known_rows();
    measure_weights();
    columns();
    add_row_sums();
    return std::move(gradient_);
  }

 private:
  void known_rows() {
    const arma::uvec rows = arma::unique(sampled_.known);
    if (rows.is_empty()) return;
    const SoftmaxAdjoint<T> exact =
        softmax_adjoint<T>(problem_.Q().rows(rows), problem_.K(), problem_.V(), arma::Mat<T>(cotangent_.rows(rows)));
    gradient_.q.rows(rows) += exact.q;
    gradient_.k += exact.k;
    gradient_.v += exact.x;
    cotangent_.rows(rows).zeros();
  }

  // The weights w_j = norms_j |v_j| again; none where they are constant.
  void measure_weights() {
    if (sampled_.weights == ColumnWeights::exact) {
      norms_ = column_norms(problem_.Q(), problem_.K()).norms;
    } else if (sampled_.weights == ColumnWeights::pilot) {
      pilot_ = softmax_transposed<T>(problem_.Q().rows(sampled_.pilot), problem_.K());
      norms_ = arma::sqrt(arma::sum(arma::square(pilot_), 1));
    } else {
      return;
    }
    lengths_ = row_norms(problem_.V());
    weights_ = norms_ % lengths_;
    if (weights_.max() > T(0)) {
      weights_ /= weights_.max();
    } else {
      weights_.reset();
    }
  }

  // sum_k b_ik f_k v_k over the sampled columns k, f_k = sum(w) / (d w_k).
  void columns() {
    const arma::uvec& chosen = sampled_.columns;
    const auto d = static_cast<T>(chosen.n_elem);
    const arma::Mat<T> keys = problem_.K().rows(chosen), values = problem_.V().rows(chosen);
    arma::Col<T> factors(chosen.n_elem, arma::fill::ones);
    const bool weighted = !weights_.is_empty();
    if (weighted) {
      factors = arma::accu(weights_) / (d * weights_(chosen));
    } else if (sampled_.weights != ColumnWeights::none) {
      factors.fill(static_cast<T>(problem_.n_k()) / d);
    }
    const arma::Mat<T> x = values.each_col() % factors;
    const arma::Col<T> none, zeros(problem_.n_q(), arma::fill::zeros);
    const StreamedAdjoint<T> of =
        streamed_adjoint<T>(SoftmaxScores<T>{problem_.Q(), keys, none},
                            {x, cotangent_, sampled_.row_sums, zeros, problem_.Q(),
                             arma::join_rows(keys, arma::Mat<T>(chosen.n_elem, 1, arma::fill::ones))});
    gradient_.q += scale_ * of.left.head_cols(problem_.p());
    log_sums_ -= of.left.tail_cols(1);
    for (arma::uword k = 0; k < chosen.n_elem; ++k) {
      gradient_.k.row(chosen[k]) += scale_ * of.right.row(k);
      gradient_.v.row(chosen[k]) += factors[k] * of.x.row(k);
    }
    if (!weighted) return;
    const arma::Col<T> of_factors = row_products(of.x, values) % factors;  // of their logarithms
    arma::Col<T> of_weights(problem_.n_k(), arma::fill::value(arma::accu(of_factors) / arma::accu(weights_)));
    for (arma::uword k = 0; k < chosen.n_elem; ++k) of_weights[chosen[k]] -= of_factors[k] / weights_[chosen[k]];
    add_weights(of_weights);
  }

  // The weights are those over their maximum, which is a factor that the probabilities do not see.
  void add_weights(const arma::Col<T>& of_weights) {
    const T largest = arma::max(norms_ % lengths_);
    arma::Col<T> of_squares(norms_.n_elem, arma::fill::zeros);  // of norms^2, doubled
    for (arma::uword j = 0; j < norms_.n_elem; ++j) {
      const T of_weight = of_weights[j] / largest;
      if (norms_[j] > 0) of_squares[j] = of_weight * lengths_[j] / norms_[j];
      if (lengths_[j] > 0) gradient_.v.row(j) += of_weight * norms_[j] / lengths_[j] * problem_.V().row(j);
    }
    if (sampled_.weights == ColumnWeights::exact) {
      add_exact_squares(of_squares);
    } else {
      add_pilot_squares(of_squares);
    }
  }

  void add_pilot_squares(const arma::Col<T>& of_squares) {
    arma::Mat<T> scores = arma::square(pilot_);
    scores.each_col() %= of_squares;
    const arma::Row<T> sums = arma::sum(scores, 0);
    scores -= pilot_.each_row() % sums;
    const arma::Mat<T> of_rows = product_tn(scores, problem_.K());
    for (arma::uword r = 0; r < of_rows.n_rows; ++r) gradient_.q.row(sampled_.pilot[r]) += scale_ * of_rows.row(r);
    gradient_.k += product(scores, arma::Mat<T>(problem_.Q().rows(sampled_.pilot)), scale_);
  }

  // b_ij^2 is the exponential of the score of a doubled query over a squared row sum.
  void add_exact_squares(const arma::Col<T>& of_squares) {
    const arma::Mat<T> doubled = 2 * problem_.Q(), ones(problem_.n_q(), 1, arma::fill::ones);
    const arma::Mat<T> x(of_squares);
    const arma::Col<T> none, zeros(problem_.n_q(), arma::fill::zeros);
    const RowSums<T> squared{2 * sampled_.row_sums.maxima, arma::square(sampled_.row_sums.sums)};
    const arma::Mat<T> keys = arma::join_rows(problem_.K(), arma::Mat<T>(problem_.n_k(), 1, arma::fill::ones));
    const StreamedAdjoint<T> of = streamed_adjoint<T>(SoftmaxScores<T>{doubled, problem_.K(), none},
                                                      {x, ones, squared, zeros, problem_.Q(), keys});
    gradient_.q += scale_ * of.left.head_cols(problem_.p());
    log_sums_ -= of.left.tail_cols(1);
    gradient_.k += scale_ * of.right;
  }

  // The logarithms of the row sums: their derivatives by the scores are b_ij.
  void add_row_sums() {
    const arma::Mat<T> x(problem_.n_k(), 1, arma::fill::zeros), nothing(problem_.n_q(), 1, arma::fill::zeros);
    const arma::Col<T> none, delta = -log_sums_;
    const StreamedAdjoint<T> of =
        streamed_adjoint<T>(SoftmaxScores<T>{problem_.Q(), problem_.K(), none},
                            {x, nothing, sampled_.row_sums, delta, problem_.Q(), problem_.K()});
    gradient_.q += scale_ * of.left;
    gradient_.k += scale_ * of.right;
  }

  const Problem<T>& problem_;
  const SampledColumns<T>& sampled_;
  const T scale_;
  arma::Mat<T> cotangent_;  // of the rows that are not exact
  arma::Col<T> log_sums_;   // the cotangent of the logarithms of the row sums
  Gradient<T> gradient_;
  arma::Col<T> norms_, lengths_, weights_;
  arma::Mat<T> pilot_;  // n_k x |J|
};

}  // namespace

template <typename T>
Gradient<T> sampled_columns_gradient(const Problem<T>& problem, const SampledColumns<T>& sampled,
                                     const arma::Mat<T>& cotangent) {
  const SerialBlas serial;
  const auto below = [](const arma::uvec& indices, arma::uword n) { return indices.is_empty() || indices.max() < n; };
  require(below(sampled.columns, problem.n_k()) && below(sampled.pilot, problem.n_q()) &&
              below(sampled.known, problem.n_q()),
          "sampled_columns_gradient", "columns below n_k, and pilot and known rows below n_q",
          {{"n_k", problem.n_k()}, {"n_q", problem.n_q()}});
  const arma::uword n_q = problem.n_q();
  require(sampled.row_sums.maxima.n_elem == n_q && sampled.row_sums.sums.n_elem == n_q && cotangent.n_rows == n_q &&
              cotangent.n_cols == problem.p_v(),
          "sampled_columns_gradient", "a row sum for each query, and a cotangent of n_q x p_v",
          {{"row sums", sampled.row_sums.sums.n_elem},
           {"rows", cotangent.n_rows},
           {"cols", cotangent.n_cols},
           {"n_q", n_q},
           {"p_v", problem.p_v()}});
  return ColumnsBackward<T>(problem, sampled, cotangent).run();
}

template Gradient<float> sampled_columns_gradient(const Problem<float>&, const SampledColumns<float>&,
                                                  const arma::Mat<float>&);
template Gradient<double> sampled_columns_gradient(const Problem<double>&, const SampledColumns<double>&,
                                                   const arma::Mat<double>&);

}  // namespace croquis
