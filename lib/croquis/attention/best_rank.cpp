#include <croquis/attention/best_rank.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/softmax.hpp>
#include <stdexcept>

namespace croquis {

template <typename T>
BestRank<T>::BestRank(const Problem<T>& problem) : problem_(problem) {
  require(problem.n() <= kLargestN, "best-rank-d", "n <= 4096, it takes a dense singular value decomposition",
          {{"n", problem.n()}});
  Factors factors;
  // Of B^T, whose rows by query are the columns here; left and right change places. Divide and conquer is ten times as
  // fast and fails on some matrices of which whole rows underflow; QR iteration does not.
  const arma::Mat<T> b = softmax_transposed(problem.Q(), problem.K());
  if (!arma::svd_econ(factors.right, factors.values, factors.left, b) &&
      !arma::svd_econ(factors.right, factors.values, factors.left, b, "both", "std")) {
    throw std::runtime_error("best-rank-d: the singular value solver failed");
  }
  factors_ = std::make_shared<const Factors>(std::move(factors));
}

template <typename T>
Approximation<T> BestRank<T>::approximate(arma::uword d) const {
  const arma::uword n = problem_.n();
  require(d >= 1 && d <= n, "best-rank-d", "1 <= d <= n", {{"d", d}, {"n", n}});
  const auto product = [d](const arma::Mat<T>& left, const arma::Col<T>& values, const arma::Mat<T>& right,
                           const arma::Mat<T>& x) -> arma::Mat<T> {
    arma::Mat<T> y = right.head_cols(d).t() * x;
    y.each_col() %= values.head(d);
    return left.head_cols(d) * y;
  };
  const auto f = factors_;
  Approximation<T> approximation =
      from_scores<T>({n, n, [f, product](const arma::Mat<T>& x) { return product(f->left, f->values, f->right, x); },
                      [f, product](const arma::Mat<T>& x) { return product(f->right, f->values, f->left, x); }},
                     problem_);
  approximation.diagnostics.rank = d;
  return approximation;
}

template <typename T>
Method<T> best_rank_method() {
  Method<T> method;
  method.name = "best-rank-d";
  method.summary = "truncated singular value decomposition of B: an oracle, n <= 4096";
  method.quadratic = true;
  method.source = "Eckart-Young";
  method.random = [](const OptionValues&) { return false; };
  method.bind = [](const Problem<T>& problem, const OptionValues&) -> BoundMethod<T> {
    const auto n = static_cast<double>(problem.n()), p_v = static_cast<double>(problem.p_v());
    const BestRank<T> best(problem);
    return {[best](arma::uword d, const Stream&) { return best.approximate(d); },
            [=](double d) { return 22 * n * n * n + 4 * n * d * p_v; }};
  };
  return method;
}

template class BestRank<float>;
template class BestRank<double>;
template Method<float> best_rank_method();
template Method<double> best_rank_method();

}  // namespace croquis
