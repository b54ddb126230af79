#include <cmath>
#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/linear.hpp>
#include <croquis/attention/prefix_product.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <memory>

namespace croquis {
namespace {

// The same with sums over the keys up to the query.
template <typename T>
Approximation<T> causal_linear_attention(const Problem<T>& problem, const arma::Mat<T>& of_queries,
                                         const arma::Mat<T>& of_keys) {
  struct Factors {
    arma::Mat<T> of_queries, of_keys;
    TokenAlignment tokens;
    arma::Col<T> sums;
    auto queries() const {
      return [this](arma::uword first, arma::uword last) -> arma::Mat<T> { return of_queries.rows(first, last); };
    }
    auto keys() const {
      return [this](arma::uword first, arma::uword last) -> arma::Mat<T> { return of_keys.rows(first, last); };
    }
    arma::Mat<T> apply(const arma::Mat<T>& x) const {
      return prefix_product<T>(tokens, of_keys.n_cols, queries(), keys(), x);
    }
    arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const {
      return suffix_product<T>(tokens, of_keys.n_cols, queries(), keys(), x);
    }
  };
  const auto f = std::make_shared<Factors>(Factors{of_queries, of_keys, problem.tokens(), {}});
  f->sums = f->apply(arma::Mat<T>(problem.n_k(), 1, arma::fill::ones));
  checked_denominators<T>(f->sums, arma::Col<T>(problem.n_q(), arma::fill::zeros), "linear");
  return from_scores<T>(
      {problem.n_q(), problem.n_k(),
       [f](const arma::Mat<T>& x) -> arma::Mat<T> { return f->apply(x).each_col() / f->sums; },
       [f](const arma::Mat<T>& x) -> arma::Mat<T> { return f->apply_transposed(x.each_col() / f->sums); }},
      problem);
}

}  // namespace

template <typename T>
Approximation<T> linear_attention(const Problem<T>& problem) {
  struct Factors {
    arma::Mat<T> queries, keys;
    arma::Col<T> sums;
  };
  const auto f = std::make_shared<Factors>();
  f->queries = log_elu_features(problem.Q());
  f->keys = log_elu_features(problem.K());
  // The largest feature of every key column becomes 1, then that of every query row, so that sums over keys are >= 1.
  const arma::Row<T> shift = arma::max(f->keys, 0);
  f->keys.each_row() -= shift;
  f->queries.each_row() += shift;
  f->queries.each_col() -= arma::Col<T>(arma::max(f->queries, 1));
  for (arma::Mat<T>* m : {&f->keys, &f->queries}) {
    parallel_for(m->n_cols, 4 * m->n_rows, [m](std::size_t c) { exp_shifted(m->colptr(c), m->n_rows, T(0)); });
  }
  if (problem.is_causal()) return causal_linear_attention(problem, f->queries, f->keys);
  f->sums = product<T>(f->queries, column_sums(f->keys).t());
  checked_denominators<T>(f->sums, arma::Col<T>(problem.n_q(), arma::fill::zeros), "linear");
  return from_scores<T>({problem.n_q(), problem.n_k(),
                         [f](const arma::Mat<T>& x) -> arma::Mat<T> {
                           arma::Mat<T> y = product(f->queries, product_tn(f->keys, x));
                           divide_rows(y, f->sums);
                           return y;
                         },
                         [f](const arma::Mat<T>& x) -> arma::Mat<T> {
                           const arma::Mat<T> scaled = x.each_col() / f->sums;
                           return product(f->keys, product_tn(f->queries, scaled));
                         }},
                        problem);
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
