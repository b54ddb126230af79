#include <croquis/attention/v_mean.hpp>

namespace croquis {

namespace {

// Row i is the mean of the first tokens.causal_keys(i) rows of X.
template <typename T>
arma::Mat<T> prefix_means(const TokenAlignment& tokens, const arma::Mat<T>& x) {
  arma::Mat<T> means(tokens.n_q, x.n_cols);
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    double sum = 0;  // in double, so that long prefixes lose nothing
    arma::uword j = 0;
    for (arma::uword i = 0; i < tokens.n_q; ++i) {
      for (; j < tokens.causal_keys(i); ++j) sum += static_cast<double>(x(j, c));
      means(i, c) = static_cast<T>(sum / static_cast<double>(j));
    }
  }
  return means;
}

// The transposed product: row j is the sum of x_i / causal_keys(i) over the queries i that attend to key j.
template <typename T>
arma::Mat<T> suffix_shares(const TokenAlignment& tokens, const arma::Mat<T>& x) {
  arma::Mat<T> shares(tokens.n_k, x.n_cols);
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    double sum = 0;
    arma::uword i = tokens.n_q;
    for (arma::uword j = tokens.n_k; j-- > 0;) {
      for (; i > 0 && tokens.causal_keys(i - 1) > j; --i) {
        sum += static_cast<double>(x(i - 1, c)) / static_cast<double>(tokens.causal_keys(i - 1));
      }
      shares(j, c) = static_cast<T>(sum);
    }
  }
  return shares;
}

template <typename T>
LinearOperator<T> mean_scores(const Problem<T>& problem) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  if (problem.is_causal()) {
    const TokenAlignment tokens = problem.tokens();
    return {n_q, n_k, [tokens](const arma::Mat<T>& x) { return prefix_means(tokens, x); },
            [tokens](const arma::Mat<T>& x) { return suffix_shares(tokens, x); }};
  }
  const T share = static_cast<T>(n_q) / static_cast<T>(n_k);
  return {n_q, n_k, [=](const arma::Mat<T>& x) -> arma::Mat<T> { return arma::repmat(arma::mean(x, 0), n_q, 1); },
          [=](const arma::Mat<T>& x) -> arma::Mat<T> { return arma::repmat(share * arma::mean(x, 0), n_k, 1); }};
}

}  // namespace

template <typename T>
Approximation<T> v_mean(const Problem<T>& problem) {
  const LinearOperator<T> scores = mean_scores(problem);
  Approximation<T> approximation = from_scores(scores, problem);
  approximation.adjoint = adjoint_of<T>(problem, [scores](const arma::Mat<T>& cotangent) -> Gradient<T> {
    return {.q = {}, .k = {}, .v = scores.apply_transposed(cotangent), .bias = {}};
  });
  return approximation;
}

template <typename T>
Method<T> v_mean_method() {
  Method<T> method;
  method.name = "v-mean";
  method.summary = "(1/n) 1 1^T V, the mean of the values in every row; of those so far in causal attention";
  method.causal = true;
  method.source = "Skeinformer Sec. 5";
  method.random = always(false);
  method.adjoint = method.rectangular = method.rowwise = method.rows_sum_to_one = method.exact_on_equal_tokens =
      always(true);
  method.prepare = [](const Problem<T>& problem, const OptionValues&) -> PreparedMethod<T> {
    const auto n_k = static_cast<double>(problem.n_k()), p_v = static_cast<double>(problem.p_v());
    return {[problem](arma::uword, const Key&) { return v_mean(problem); }, [=](double) { return n_k * p_v; }};
  };
  return method;
}

template Approximation<float> v_mean(const Problem<float>&);
template Approximation<double> v_mean(const Problem<double>&);
template Method<float> v_mean_method();
template Method<double> v_mean_method();

}  // namespace croquis
