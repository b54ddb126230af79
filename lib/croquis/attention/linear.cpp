#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/linear.hpp>
#include <croquis/attention/prefix_product.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <memory>
#include <utility>

namespace croquis {
namespace {

// phi(Q) phi(K)^T with the keys up to the query.
template <typename T>
LinearOperator<T> causal_products(TokenAlignment tokens, arma::Mat<T> of_queries, arma::Mat<T> of_keys) {
  const auto rows_of = [](arma::Mat<T> m) {
    return [m = std::make_shared<const arma::Mat<T>>(std::move(m))](arma::uword first, arma::uword last) {
      return arma::Mat<T>(m->rows(first, last));
    };
  };
  const arma::uword d = of_keys.n_cols;
  const auto queries = rows_of(std::move(of_queries)), keys = rows_of(std::move(of_keys));
  return {tokens.n_q, tokens.n_k, [=](const arma::Mat<T>& x) { return prefix_product<T>(tokens, d, queries, keys, x); },
          [=](const arma::Mat<T>& x) { return suffix_product<T>(tokens, d, queries, keys, x); }};
}

}  // namespace

template <typename T>
Approximation<T> linear_attention(const Problem<T>& problem) {
  arma::Mat<T> queries = log_elu_features(problem.Q()), keys = log_elu_features(problem.K());
  // The largest feature of every key column becomes 1, then that of every query row, so that sums over keys are >= 1.
  const arma::Row<T> shift = arma::max(keys, 0);
  keys.each_row() -= shift;
  queries.each_row() += shift;
  queries.each_col() -= arma::Col<T>(arma::max(queries, 1));
  for (arma::Mat<T>* m : {&keys, &queries}) {
    parallel_for(m->n_cols, 4 * m->n_rows, [m](std::size_t c) { exp_shifted(m->colptr(c), m->n_rows, T(0)); });
  }
  LinearOperator<T> products;
  arma::Col<T> sums;
  if (problem.is_causal()) {
    products = causal_products(problem.tokens(), std::move(queries), std::move(keys));
    sums = products.apply(arma::Mat<T>(problem.n_k(), 1, arma::fill::ones));
  } else {
    sums = product<T>(queries, column_sums(keys).t());
    products = as_operator(std::move(queries), std::move(keys));
  }
  checked_denominators<T>(sums, arma::Col<T>(problem.n_q(), arma::fill::zeros), "linear");
  return from_scores(divided_rows(products, std::move(sums)), problem);
}

template <typename T>
Method<T> linear_method() {
  Method<T> method;
  method.name = "linear";
  method.summary = "features elu(x) + 1, a kernel of its own, any d";
  method.source = "Katharopoulos et al. 2020";
  method.causal = true;
  method.random = always(false);
  method.rectangular = method.rowwise = method.rows_sum_to_one = method.exact_on_equal_tokens = always(true);
  method.prepare = [](const Problem<T>& problem, const OptionValues&) -> PreparedMethod<T> {
    const auto tokens = static_cast<double>(problem.n_q() + problem.n_k()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v());
    const double flops = problem.is_causal() ? prefix_product_flops(problem.tokens(), p, p_v) +
                                                   prefix_product_flops(problem.tokens(), p, 1)
                                             : 2 * tokens * p * (p_v + 1);
    return {[problem](arma::uword, const Key&) { return linear_attention(problem); }, [=](double) { return flops; }};
  };
  return method;
}

template Approximation<float> linear_attention(const Problem<float>&);
template Approximation<double> linear_attention(const Problem<double>&);
template Method<float> linear_method();
template Method<double> linear_method();

}  // namespace croquis
