#include <cmath>
#include <croquis/attention/bfloat16.hpp>
#include <croquis/attention/exact_products.hpp>
#include <croquis/attention/exact_tokens.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/linalg/bfloat16.hpp>
#include <croquis/linalg/rows.hpp>
#include <limits>
#include <memory>
#include <type_traits>

namespace croquis {
namespace {

// The mean key, or zeros in causal attention.
template <typename T>
arma::Row<T> centre_of_keys(const Problem<T>& problem) {
  if (problem.is_causal()) return arma::Row<T>(problem.p(), arma::fill::zeros);
  return arma::mean(problem.K(), 0);
}

// Tokens whose scores are products of bfloat16, for streamed_product(). In double their products are exact.
template <typename T>
struct RoundedTokens {
  ExactTokens<T> exact;
  Bfloat16Columns keys;  // of float alone

  explicit RoundedTokens(const Problem<T>& problem) : exact(problem, Target::softmax) {
    // Centred before they are scaled: a difference of near numbers is exact, and rounding is relative to it.
    exact.k = std::pow(static_cast<T>(problem.p()), T(-0.25)) *
              transposed<T>(problem.K().each_row() - centre_of_keys(problem));
    if constexpr (std::is_same_v<T, float>) {
      keys = bfloat16_columns(exact.k.memptr(), exact.k.n_rows, exact.k.n_cols);
    } else {
      for (arma::mat* x : {&exact.q, &exact.k}) x->transform(rounded_to_bfloat16);
    }
  }

  arma::uword rows() const { return exact.rows(); }
  arma::uword cols() const { return exact.cols(); }
  RowScale row_scale() const { return RowScale::by_sum; }
  arma::uword seen(arma::uword last, arma::uword k0, arma::uword count) const { return exact.seen(last, k0, count); }

  void fill(arma::uword q0, arma::uword k0, arma::Mat<T>& scores) const {
    if constexpr (std::is_same_v<T, float>) {
      bfloat16_product(scores.n_rows, scores.n_cols, exact.k.n_rows, exact.q.memptr() + q0, exact.q.n_rows,
                       keys.column(k0), keys.stride, scores.memptr());
      exact.finish(q0, k0, scores);
    } else {
      exact.fill(q0, k0, scores);
    }
  }
};

}  // namespace

template <typename T>
Approximation<T> bfloat16(const Problem<T>& problem) {
  const auto tokens = std::make_shared<const RoundedTokens<T>>(problem);
  Approximation<T> approximation;
  approximation.output = streamed_product<T>(*tokens, problem.V());
  approximation.scores =
      deferred<T>(problem.n_q(), problem.n_k(), [tokens] { return score_operator<T>(tokens, true); });
  return approximation;
}

template <typename T>
arma::Col<T> bfloat16_bounds(const Problem<T>& problem) {
  constexpr double u = kBfloat16Roundoff, epsilon = std::numeric_limits<T>::epsilon();
  const auto p = static_cast<double>(problem.p()), n_k = static_cast<double>(problem.n_k());
  const auto largest_norm = [](const arma::Mat<T>& x) { return static_cast<double>(arma::max(row_norms(x))); };
  const arma::Row<T> mean = arma::mean(problem.V(), 0);
  const double keys = largest_norm(problem.K().each_row() - centre_of_keys(problem)),
               values = largest_norm(problem.V().each_row() - mean);
  const arma::vec queries = arma::conv_to<arma::vec>::from(row_norms(problem.Q()));
  // Of a score: two roundings and, in this precision, the scaling and a sum of p terms. Of the rest: the exponentials,
  // and sums of n_k terms above and below the line.
  const arma::vec change = (2 * u + u * u + (p + 9) * epsilon) / std::sqrt(p) * keys * queries;
  const arma::vec bounds = 2 * values * arma::tanh(change / 2) +
                           2 * (n_k + 8) * epsilon * (values + static_cast<double>(arma::max(row_norms<T>(mean))));
  return arma::conv_to<arma::Col<T>>::from(bounds);
}

template <typename T>
Method<T> bfloat16_method() {
  Method<T> method;
  method.name = "bfloat16";
  method.summary = "exact attention with queries and keys rounded to bfloat16, for any d; quadratic in n";
  method.source = "docs/methods/bfloat16.md";
  method.quadratic = always(true);
  method.causal = true;
  method.random = always(false);
  method.rectangular = method.rowwise = method.rows_sum_to_one = method.exact_on_equal_tokens = always(true);
  method.prepare = [](const Problem<T>& problem, const OptionValues&) -> PreparedMethod<T> {
    const double pairs = most_visits(problem, static_cast<double>(problem.n_k())),
                 flops = pairs * pair_flops(static_cast<double>(problem.p()), static_cast<double>(problem.p_v()));
    return {[problem](arma::uword, const Key&) { return bfloat16(problem); }, [flops](double) { return flops; }};
  };
  return method;
}

template Approximation<float> bfloat16(const Problem<float>&);
template Approximation<double> bfloat16(const Problem<double>&);
template arma::Col<float> bfloat16_bounds(const Problem<float>&);
template arma::Col<double> bfloat16_bounds(const Problem<double>&);
template Method<float> bfloat16_method();
template Method<double> bfloat16_method();

}  // namespace croquis
