#include <croquis/attention/best_rank.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/randomised_svd.hpp>
#include <stdexcept>

namespace croquis {
namespace {

// The first d triples of U diag(values) V^T as scores.
template <typename T, typename Triples>
Approximation<T> from_triples(std::shared_ptr<const Triples> triples, arma::uword d, const Problem<T>& problem) {
  const auto product = [d](const arma::Mat<T>& left, const arma::Col<T>& values, const arma::Mat<T>& right,
                           const arma::Mat<T>& x) -> arma::Mat<T> {
    arma::Mat<T> y = right.head_cols(d).t() * x;
    y.each_col() %= values.head(d);
    return left.head_cols(d) * y;
  };
  const arma::uword n = problem.n();
  Approximation<T> approximation = from_scores<T>(
      {n, n, [=](const arma::Mat<T>& x) { return product(triples->left, triples->values, triples->right, x); },
       [=](const arma::Mat<T>& x) { return product(triples->right, triples->values, triples->left, x); }},
      problem);
  approximation.diagnostics.rank = d;
  return approximation;
}

}  // namespace

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
  return from_triples<T, Factors>(factors_, d, problem_);
}

template <typename T>
Approximation<T> best_rank_iterative(const Problem<T>& problem, const LinearOperator<T>& scores, arma::uword d,
                                     const Stream& stream) {
  require(d >= 1 && d <= problem.n(), "best-rank-d", "1 <= d <= n", {{"d", d}, {"n", problem.n()}});
  const auto svd = std::make_shared<const TruncatedSvd<T>>(randomised_svd(scores, d, stream));
  Approximation<T> approximation = from_triples<T, TruncatedSvd<T>>(svd, d, problem);
  approximation.diagnostics.residual = svd->residual;
  return approximation;
}

template <typename T>
Method<T> best_rank_method() {
  Method<T> method;
  method.name = "best-rank-d";
  method.summary = "truncated singular value decomposition of B: an oracle, quadratic in n";
  method.quadratic = true;
  method.source = "Eckart-Young";
  method.random = [](const OptionValues&) { return false; };
  method.bind = [](const Problem<T>& problem, const OptionValues&) -> BoundMethod<T> {
    const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v());
    if (problem.n() > BestRank<T>::kLargestN) {
      const LinearOperator<T> scores = exact_scores(problem, Target::softmax);
      return {[=](arma::uword d, const Stream& stream) { return best_rank_iterative(problem, scores, d, stream); },
              [=](double d) { return 22 * n * n * (p + d + 10) + 4 * n * d * p_v; }};
    }
    const BestRank<T> best(problem);
    return {[best](arma::uword d, const Stream&) { return best.approximate(d); },
            [=](double d) { return 22 * n * n * n + 4 * n * d * p_v; }};
  };
  return method;
}

template class BestRank<float>;
template class BestRank<double>;
template Approximation<float> best_rank_iterative(const Problem<float>&, const LinearOperator<float>&, arma::uword,
                                                  const Stream&);
template Approximation<double> best_rank_iterative(const Problem<double>&, const LinearOperator<double>&, arma::uword,
                                                   const Stream&);
template Method<float> best_rank_method();
template Method<double> best_rank_method();

}  // namespace croquis
