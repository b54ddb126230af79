#include <algorithm>
#include <croquis/attention/best_rank.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/randomised_svd.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace croquis {
namespace {

// Singular values below this share of the largest are not left to the eigenvalues of B B^T, which bring a relative
// error of some 10 u (sigma_1 / sigma)^2 / 2, 6e-10 here.
constexpr double kLeastShare = 1e-3;

// left_d right_d^T as scores.
template <typename T, typename Factors>
Approximation<T> from_factors(std::shared_ptr<const Factors> factors, arma::uword d, const Problem<T>& problem) {
  const auto product = [d](const arma::Mat<T>& left, const arma::Mat<T>& right, const arma::Mat<T>& x) -> arma::Mat<T> {
    const SerialBlas serial;
    return left.head_cols(d) * arma::Mat<T>(right.head_cols(d).t() * x);
  };
  Approximation<T> approximation = from_scores<T>(
      {problem.n_q(), problem.n_k(), [=](const arma::Mat<T>& x) { return product(factors->left, factors->right, x); },
       [=](const arma::Mat<T>& x) { return product(factors->right, factors->left, x); }},
      problem);
  approximation.diagnostics.rank = d;
  return approximation;
}

template <typename T>
arma::uword smaller_side(const Problem<T>& problem) {
  return std::min(problem.n_q(), problem.n_k());
}

template <typename T>
bool is_dense(const Problem<T>& problem) {
  constexpr auto n = static_cast<double>(BestRank<T>::kLargestN);
  return static_cast<double>(problem.n_q()) * static_cast<double>(problem.n_k()) <= n * n;
}

// Without a copy where the precision is the same: these matrices are n x n.
template <typename To, typename From>
arma::Mat<To> in_precision(arma::Mat<From>&& m) {
  if constexpr (std::is_same_v<To, From>) return std::move(m);
  return arma::conv_to<arma::Mat<To>>::from(m);
}

// The columns from the last to the first, in place.
void reverse_columns(arma::mat& m) {
  for (arma::uword i = 0, j = m.n_cols; i + 1 < j; ++i) m.swap_cols(i, --j);
}

template <typename T>
void require_rank(const Problem<T>& problem, arma::uword d) {
  require(d >= 1 && d <= smaller_side(problem), "best-rank-d", "1 <= d <= min(n_q, n_k)",
          {{"d", d}, {"n_q", problem.n_q()}, {"n_k", problem.n_k()}});
}

}  // namespace

template <typename T>
BestRank<T>::BestRank(const Problem<T>& problem) : problem_(problem) {
  const SerialBlas serial;
  require(is_dense(problem), "best-rank-d", "n_q n_k <= 4096^2, it takes a dense singular value decomposition",
          {{"n_q", problem.n_q()}, {"n_k", problem.n_k()}});
  const arma::mat b = in_precision<double>(transposed_softmax(problem));
  if (!b.is_finite()) throw std::runtime_error("best-rank-d: the scores are not finite");
  const bool by_queries = problem.n_q() <= problem.n_k();
  arma::vec squares;
  arma::mat vectors;  // singular vectors of the smaller side
  if (!arma::eig_sym(squares, vectors, by_queries ? product_tn(b, b) : product_nt(b, b))) return;
  reverse_columns(vectors);
  const arma::uvec reached = arma::find(squares >= kLeastShare * kLeastShare * squares.max());
  squared_reach_ = reached.n_elem - 1;
  Factors factors{in_precision<T>(by_queries ? product(b, vectors) : product_tn(b, vectors)), {}};
  factors.right = in_precision<T>(std::move(vectors));
  if (by_queries) std::swap(factors.left, factors.right);
  squared_ = std::make_shared<const Factors>(std::move(factors));
}

template <typename T>
const typename BestRank<T>::Decomposition& BestRank<T>::decomposition() const {
  std::call_once(decomposition_->once, [this] {
    const SerialBlas serial;
    Factors factors;
    // Divide and conquer is ten times as fast and fails on some matrices of which whole rows underflow; QR iteration
    // does not. Left and right change places, as this is B^T.
    const arma::Mat<T> b = transposed_softmax(problem_);
    arma::Col<T>& values = decomposition_->values;
    if (!arma::svd_econ(factors.right, values, factors.left, b) &&
        !arma::svd_econ(factors.right, values, factors.left, b, "both", "std")) {
      throw std::runtime_error("best-rank-d: the singular value solver failed");
    }
    factors.right.each_row() %= values.t();
    decomposition_->factors = std::make_shared<const Factors>(std::move(factors));
  });
  return *decomposition_;
}

template <typename T>
const arma::Col<T>& BestRank<T>::singular_values() const {
  return decomposition().values;
}

template <typename T>
Approximation<T> BestRank<T>::approximate(arma::uword d) const {
  require_rank(problem_, d);
  const bool squared = squared_ && (d <= squared_reach_ || d == smaller_side(problem_));
  return from_factors<T, Factors>(squared ? squared_ : decomposition().factors, d, problem_);
}

template <typename T>
Approximation<T> best_rank_iterative(const Problem<T>& problem, const LinearOperator<T>& scores, arma::uword d,
                                     const Key& draw_key) {
  require_rank(problem, d);
  const auto svd = std::make_shared<TruncatedSvd<T>>(randomised_svd(scores, d, draw_key));
  svd->right.each_row() %= svd->values.t();
  Approximation<T> approximation = from_factors<T, TruncatedSvd<T>>(svd, d, problem);
  approximation.diagnostics.residual = svd->residual;
  return approximation;
}

template <typename T>
Method<T> best_rank_method() {
  Method<T> method;
  method.name = "best-rank-d";
  method.summary = "truncated singular value decomposition of B: an oracle, quadratic in n";
  method.quadratic = always(true);
  method.causal = true;
  method.source = "Eckart-Young";
  method.random = always(false);
  method.rectangular = method.exact_on_equal_tokens = always(true);
  method.largest_d =
      method.exact_at = [](TokenAlignment shape, const OptionValues&) { return std::min(shape.n_q, shape.n_k); };
  method.prepare = [](const Problem<T>& problem, const OptionValues&) -> PreparedMethod<T> {
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    if (!is_dense(problem)) {
      const LinearOperator<T> scores = exact_scores(problem, Target::softmax);
      // Fixed start: the best approximation is a property of the problem, not of a draw.
      return {[=](arma::uword d, const Key&) {
                return best_rank_iterative(problem, scores, d, Key(0).child("best-rank-d"));
              },
              [=](double d) { return 22 * n_q * n_k * (p + d + 10) + 2 * (n_q + n_k) * d * p_v; }};
    }
    const BestRank<T> best(problem);
    return {[best](arma::uword d, const Key&) { return best.approximate(d); },
            [=](double d) { return 13 * n_q * n_k * std::min(n_q, n_k) + 2 * (n_q + n_k) * d * p_v; }};
  };
  return method;
}

template class BestRank<float>;
template class BestRank<double>;
template Approximation<float> best_rank_iterative(const Problem<float>&, const LinearOperator<float>&, arma::uword,
                                                  const Key&);
template Approximation<double> best_rank_iterative(const Problem<double>&, const LinearOperator<double>&, arma::uword,
                                                   const Key&);
template Method<float> best_rank_method();
template Method<double> best_rank_method();

}  // namespace croquis
