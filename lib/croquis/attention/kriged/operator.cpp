#include <croquis/attention/kriged/adjoint.hpp>
#include <croquis/attention/kriged/largest.hpp>
#include <croquis/attention/kriged/operator.hpp>
#include <croquis/attention/kriged/query_rows.hpp>
#include <croquis/attention/kriged/value_box.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/products.hpp>
#include <utility>

namespace croquis {
namespace {

// The exact rows: which queries, and which columns of the weights theirs are.
template <typename T, typename Take>
void for_exact_rows(const KrigedModel<T>& model, const Take& take) {
  for (const arma::uword i : model.still) take(i, arma::uword{model.query_tree.leaf[i]});
  const arma::uword landmarks = model.rows.queries.n_rows - model.checks.size();
  for (std::size_t c = 0; c < model.checks.size(); ++c) take(model.checks[c], landmarks + c);
}

template <typename T>
arma::Mat<T> queries_of(const KrigedModel<T>& model, const std::vector<arma::uword>& chosen) {
  return model.input->problem.Q().rows(arma::uvec(chosen));
}

template <typename T>
arma::Mat<T> correction_of(const KrigedModel<T>& model) {
  if (model.plan.kriging.inverse.is_empty()) return {};
  return product(model.plan.regression(), model.plan.residual);
}

// B~ with its factors stored.
template <typename T>
class Scores {
 public:
  explicit Scores(std::shared_ptr<const KrigedModel<T>> model)
      : model_(std::move(model)),
        rows_(query_rows(*model_->input, model_->query_tree, model_->plan.cells, model_->plan.near,
                         correction_of(*model_), true)) {
    if (!model_->plan.kriging.inverse.is_empty()) regression_ = model_->plan.regression();
    if (!model_->farthest.empty())
      far_ = softmax_transposed<T>(queries_of(*model_, model_->farthest), model_->input->key_rows());
  }

  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    const SerialBlas serial;
    const arma::Mat<T> sums = into_cells(x);
    arma::Mat<T> y = product(rows_.cell_weights, sums);
    y += rows_.near_weights * x;
    y.each_col() %= rows_.corrected + rows_.uncorrected;
    const arma::Mat<T> exact = product_tn(model_->rows.weights, x);
    if (!regression_.is_empty()) {
      arma::Mat<T> corrections = product(
          rows_.cell_weights, product(regression_, residuals<T>(model_->rows, model_->plan, x.t(), sums, exact)));
      corrections.each_col() %= rows_.corrected;
      y += corrections;
    }
    y.each_row() += arma::Row<T>(model_->plan.cells.mean_share * arma::mean(x, 0));
    for_exact_rows(*model_, [&](arma::uword i, arma::uword r) { y.row(i) = exact.row(r); });
    if (!far_.is_empty()) y.rows(arma::uvec(model_->farthest)) = product_tn(far_, x);
    return y;
  }

  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const {
    const SerialBlas serial;
    arma::Mat<T> own = x, exact(model_->rows.queries.n_rows, x.n_cols, arma::fill::zeros);
    for_exact_rows(*model_, [&](arma::uword i, arma::uword r) {
      exact.row(r) += own.row(i);
      own.row(i).zeros();
    });
    arma::Mat<T> far;
    if (!far_.is_empty()) {
      const arma::uvec rows(model_->farthest);
      far = own.rows(rows);
      own.rows(rows).zeros();
    }
    const arma::Mat<T> weighted = own.each_col() % (rows_.corrected + rows_.uncorrected);
    arma::Mat<T> cells = product_tn(rows_.cell_weights, weighted);
    arma::Mat<T> y = rows_.near_weights.t() * weighted;
    if (!regression_.is_empty()) {
      const arma::Mat<T> corrected = own.each_col() % rows_.corrected;
      const arma::Mat<T> of_rows = product_tn(regression_, product_tn(rows_.cell_weights, corrected));
      cells -= product_tn(model_->plan.cell_weights, of_rows);
      exact += of_rows;
      for (arma::uword r = 0; !model_->plan.near.lists.empty() && r < of_rows.n_rows; ++r) {
        for (const std::uint32_t j : model_->plan.near.lists[model_->rows.leaf[r]]) {
          y.row(j) -= near_weight(model_->rows, model_->plan, r, j) * of_rows.row(r);
        }
      }
    }
    y += product(model_->rows.weights, exact);
    y.each_row() += arma::Row<T>(model_->plan.cells.mean_share / static_cast<T>(y.n_rows) * arma::sum(own, 0));
    if (!far_.is_empty()) y += product(far_, far);
    for (arma::uword c = 0; c < y.n_cols; ++c) {
      for (arma::uword j = 0; j < y.n_rows; ++j) y.at(j, c) += cells.at(model_->plan.cells.cell[j], c);
    }
    return y;
  }

 private:
  arma::Mat<T> into_cells(const arma::Mat<T>& x) const {
    arma::Mat<T> sums(model_->plan.cells.size(), x.n_cols, arma::fill::zeros);
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      for (arma::uword j = 0; j < x.n_rows; ++j) sums.at(model_->plan.cells.cell[j], c) += x.at(j, c);
    }
    return sums;
  }

  std::shared_ptr<const KrigedModel<T>> model_;
  QueryRows<T> rows_;
  arma::Mat<T> regression_, far_;
};

}  // namespace

template <typename T>
Approximation<T> kriged_approximation(std::shared_ptr<KrigedModel<T>> made) {
  const SerialBlas serial;
  const std::shared_ptr<const KrigedModel<T>> model = made;
  const KrigedInput<T>& input = *model->input;
  const arma::uword n_q = input.problem.n_q(), n_k = input.problem.n_k(), p_v = input.problem.p_v();
  QueryRows<T> rows =
      query_rows(input, model->query_tree, model->plan.cells, model->plan.near, correction_of(*model), false);
  // Row i is row r of these, with the mean of the values that they lack.
  const auto set_exact = [&](arma::uword i, const ExactRows<T>& exact, arma::uword r) {
    for (arma::uword c = 0; c < p_v; ++c) {
      rows.output.at(i, c) = clamped<T>(exact.values.at(r, c) + input.value_mean[c], input.value_ranges.minima[c],
                                        input.value_ranges.maxima[c]);
    }
    rows.denominators[i] = 1;
    rows.row_maxima[i] = exact.log_sums[r];
  };
  for_exact_rows(*model, [&](arma::uword i, arma::uword) { rows.doubts[i] = 0; });
  if (model->plan.exact_rows > 0) made->farthest = places_above(rows.doubts, T(0), model->plan.exact_rows);
  for_exact_rows(*model, [&](arma::uword i, arma::uword r) { set_exact(i, model->rows, r); });
  if (!model->farthest.empty()) {
    const ExactRows<T> far = exact_rows_of(input, queries_of(*model, model->farthest), {});
    for (arma::uword r = 0; r < model->farthest.size(); ++r) set_exact(model->farthest[r], far, r);
  }
  Approximation<T> approximation;
  approximation.output = std::move(rows.output);
  // The keys were centred: q.k of the mean belongs to the row sums.
  const arma::Col<T> of_mean = input.scale * (input.problem.Q() * input.keys.mean);
  approximation.denominators = Denominators<T>{std::move(rows.denominators), rows.row_maxima + of_mean};
  approximation.diagnostics.mode = model->plan.shares.name;
  approximation.diagnostics.leaves = model->rows.queries.n_rows - model->checks.size();
  approximation.diagnostics.cells = model->plan.cells.size();
  approximation.diagnostics.fallen_rows = rows.fallen;
  approximation.diagnostics.ridge = model->plan.kriging.ridge;
  approximation.diagnostics.leave_one_out = model->plan.check_error;
  approximation.diagnostics.mean_share = static_cast<double>(model->plan.cells.mean_share);
  approximation.adjoint = kriged_adjoint<T>(model);
  approximation.scores = deferred<T>(n_q, n_k, [=]() -> LinearOperator<T> {
    return operator_of<T>(n_q, n_k, std::make_shared<const Scores<T>>(model));
  });
  return approximation;
}

template Approximation<float> kriged_approximation(std::shared_ptr<KrigedModel<float>>);
template Approximation<double> kriged_approximation(std::shared_ptr<KrigedModel<double>>);

}  // namespace croquis
