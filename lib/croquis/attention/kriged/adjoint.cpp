#include <croquis/attention/kriged/adjoint.hpp>
#include <croquis/attention/kriged/query_rows_adjoint.hpp>
#include <croquis/attention/kriged/regression_adjoint.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <utility>

namespace croquis {
namespace {

// One call: every member is the cotangent of what the forward pass calls so, and has all of it before it is used.
template <typename T>
class KrigedBackward {
 public:
  KrigedBackward(const KrigedModel<T>& model, arma::Mat<T> cotangent)
      : model_(model),
        input_(*model.input),
        plan_(model.plan),
        cotangent_(std::move(cotangent)),
        q_(input_.problem.n_q(), input_.problem.p(), arma::fill::zeros),
        k_(input_.problem.n_k(), input_.problem.p(), arma::fill::zeros),
        v_(input_.problem.n_k(), input_.value_columns.n_rows, arma::fill::zeros),
        rows_(model.rows.queries.n_rows, input_.problem.p(), arma::fill::zeros),
        row_values_(rows_.n_rows, v_.n_cols, arma::fill::zeros),
        log_sums_(rows_.n_rows, arma::fill::zeros) {}

  Gradient<T> run() && {
    const arma::uword p_v = input_.problem.p_v(), n_k = input_.problem.n_k();
    const arma::Row<T> of_mean = arma::sum(cotangent_, 0);  // which is added to every row
    exact_queries();
    queries();
    if (!correction_.is_empty()) regression();
    weights_ = product_tn<T>(input_.value_columns, row_values_.t());
    if (!residual_.is_empty()) listed();
    cells();
    exact_rows();
    leaf_means();
    Gradient<T> gradient{std::move(q_), std::move(k_), v_.head_cols(p_v), {}};
    gradient.k.each_row() -= arma::Row<T>(column_sums(gradient.k) / static_cast<T>(n_k));
    gradient.v.each_row() += arma::Row<T>((of_mean - column_sums(gradient.v)) / static_cast<T>(n_k));
    return gradient;
  }

 private:
  // Queries with rows of their own, the last one that the forward pass writes first.
  void exact_queries() {
    if (!model_.farthest.empty()) {
      const arma::uvec far(model_.farthest);
      const SoftmaxAdjoint<T> of = softmax_adjoint<T>(input_.problem.Q().rows(far), input_.key_rows(),
                                                      input_.value_columns.head_rows(input_.problem.p_v()).t(),
                                                      arma::Mat<T>(cotangent_.rows(far)));
      q_.rows(far) += of.q;
      k_ += of.k;
      v_.head_cols(of.x.n_cols) += of.x;
      cotangent_.rows(far).zeros();
    }
    const auto take = [&](arma::uword i, arma::uword r) {
      row_values_.row(r).head(cotangent_.n_cols) += cotangent_.row(i);
      cotangent_.row(i).zeros();
    };
    const arma::uword leaves = rows_.n_rows - model_.checks.size();
    for (std::size_t c = 0; c < model_.checks.size(); ++c) take(model_.checks[c], leaves + c);
    for (const arma::uword i : model_.still) take(i, arma::uword{model_.query_tree.leaf[i]});
  }

  void queries() {
    arma::Mat<T> correction;
    if (!plan_.kriging.inverse.is_empty()) correction = product(plan_.regression(), plan_.residual);
    QueryRowsAdjoint<T> of =
        query_rows_adjoint(input_, model_.query_tree, plan_.cells, plan_.near, correction, cotangent_);
    q_ += of.queries;
    cell_keys_ = std::move(of.cell_keys);
    sums_ = std::move(of.sums);
    correction_ = std::move(of.correction);
    if (!of.keys.is_empty()) {
      k_ += of.keys;
      v_ += of.values;
    }
    const arma::Mat<T>& v = input_.problem.V();
    for (arma::uword c = 0; c < v.n_cols; ++c) {
      v_.at(v.col(c).index_min(), c) += of.lowest[c];
      v_.at(v.col(c).index_max(), c) += of.highest[c];
    }
    squares_.zeros(plan_.cells.size());
  }

  // W Z, Z = B_R [V, 1] - Y S, and Y, the weights of the cells in the exact rows.
  void regression() {
    const RegressionAdjoint of = regression_adjoint(plan_, input_.problem.n_k(), correction_);
    squares_ = arma::conv_to<arma::Col<T>>::from(of.squares);
    residual_ = arma::conv_to<arma::Mat<T>>::from(of.residual);
    row_values_ += residual_;
    cell_weights_ = arma::conv_to<arma::Mat<T>>::from(of.cell_weights) - product_nt(residual_, plan_.cells.sums);
    sums_ -= product_tn(plan_.cell_weights, residual_);
  }

  // What Z lacks of the listed keys: (b_rj - y_r,c(j)) [v_j, 1].
  void listed() {
    for (arma::uword r = 0; !plan_.near.lists.empty() && r < rows_.n_rows; ++r) {
      for (const std::uint32_t j : plan_.near.lists[model_.rows.leaf[r]]) {
        const T of_weight = -arma::dot(residual_.row(r), input_.value_columns.col(j));
        v_.row(j) -= near_weight(model_.rows, plan_, r, j) * residual_.row(r);
        weights_.at(j, r) += of_weight;
        cell_weights_.at(r, plan_.cells.cell[j]) -= of_weight;
      }
    }
  }

  // The cells' weights in the exact rows, keys, sums of values and squares.
  void cells() {
    const KeyCells<T>& cells = plan_.cells;
    if (!cell_weights_.is_empty()) {
      cell_weights_ %= plan_.cell_weights;  // of the logarithms
      log_sums_ -= arma::sum(cell_weights_, 1);
      rows_ += input_.scale * product(cell_weights_, cells.keys);
      cell_keys_ += input_.scale * product_tn(cell_weights_, model_.rows.queries);
    }
    const bool weighted = !model_.importance.is_empty();
    arma::Col<T> importance(input_.problem.n_k(), arma::fill::zeros);
    for (arma::uword j = 0; j < importance.n_elem; ++j) {
      const std::uint32_t c = cells.cell[j];
      const arma::Row<T> of_mean = cell_keys_.row(c) / cells.weights[c];
      k_.row(j) += (weighted ? model_.importance[j] : T(1)) * of_mean;
      importance[j] = arma::dot(input_.keys.columns.col(j).t() - cells.keys.row(c), of_mean);
      v_.row(j) += sums_.row(c) + 2 * squares_[c] * input_.value_columns.col(j).t();
    }
    if (weighted) key_importance(importance);
  }

  // 0.8 a_j / sum(a) + a constant, a_j = |v_j| t_j, t_j^2 = sum_g count_g b_gj^2 over the landmarks g.
  void key_importance(const arma::Col<T>& importance) {
    const arma::uword leaves = rows_.n_rows - model_.checks.size();
    const arma::Mat<T>& b = model_.rows.weights;
    arma::Col<T> roots(b.n_rows, arma::fill::zeros);
    for (arma::uword g = 0; g < leaves; ++g) {
      roots += static_cast<T>(model_.query_tree.count(g)) * arma::square(b.col(g));
    }
    roots = arma::sqrt(roots);
    const T total = arma::dot(roots, input_.value_norms);
    if (!(total > 0)) return;
    const T common = arma::dot(importance, roots % input_.value_norms) / total;
    const arma::Col<T> of_products = T(0.8) / total * (importance - common);
    arma::Col<T> of_squares(b.n_rows, arma::fill::zeros);  // of t_j^2, doubled
    for (arma::uword j = 0; j < b.n_rows; ++j) {
      const T norm = input_.value_norms[j];
      if (roots[j] > 0) of_squares[j] = of_products[j] * norm / roots[j];
      if (norm > 0) v_.row(j) += of_products[j] * roots[j] / norm * input_.value_columns.col(j).t();
    }
    for (arma::uword g = 0; g < leaves; ++g) {
      weights_.col(g) += static_cast<T>(model_.query_tree.count(g)) * (of_squares % b.col(g));
    }
  }

  // The softmax over all keys, its log-sum-exp, and its product with [V, 1].
  void exact_rows() {
    const arma::Mat<T>& b = model_.rows.weights;
    v_ += product(b, row_values_);
    for (arma::uword r = 0; r < rows_.n_rows; ++r) {
      weights_.col(r) = b.col(r) % (weights_.col(r) - (arma::dot(b.col(r), weights_.col(r)) - log_sums_[r]));
    }
    rows_ += product(input_.keys.columns, weights_, input_.scale).t();
    k_ += product(weights_, model_.rows.queries, input_.scale);
  }

  // Means of the leaves of queries, and check rows.
  void leaf_means() {
    const arma::uword leaves = rows_.n_rows - model_.checks.size();
    for (arma::uword i = 0; leaves > 0 && i < q_.n_rows; ++i) {
      const std::uint32_t g = model_.query_tree.leaf[i];
      q_.row(i) += rows_.row(g) / static_cast<T>(model_.query_tree.count(g));
    }
    for (std::size_t c = 0; c < model_.checks.size(); ++c) q_.row(model_.checks[c]) += rows_.row(leaves + c);
  }

  const KrigedModel<T>& model_;
  const KrigedInput<T>& input_;
  const KrigedPlan<T>& plan_;
  arma::Mat<T> cotangent_;   // of the rows that are left
  arma::Mat<T> q_, k_, v_;   // the last column of V's is that of the ones
  arma::Mat<T> rows_;        // of the exact rows' queries, N x p
  arma::Mat<T> row_values_;  // of B_R [V, 1]
  arma::Col<T> log_sums_;
  arma::Mat<T> weights_;                  // of B_R^T, n_k x N
  arma::Mat<T> cell_weights_, residual_;  // empty where nothing is corrected
  arma::Mat<T> cell_keys_, sums_, correction_;
  arma::Col<T> squares_;
};

}  // namespace

template <typename T>
Adjoint<T> kriged_adjoint(std::shared_ptr<const KrigedModel<T>> model) {
  return adjoint_of<T>(model->input->problem,
                       [model](const arma::Mat<T>& cotangent) { return KrigedBackward<T>(*model, cotangent).run(); });
}

template Adjoint<float> kriged_adjoint(std::shared_ptr<const KrigedModel<float>>);
template Adjoint<double> kriged_adjoint(std::shared_ptr<const KrigedModel<double>>);

}  // namespace croquis
