#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/wildcat.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/sampling/rp_cholesky.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace croquis {
namespace {

using Pivots = WildcatOptions::Pivots;

// What d and the trials share: the keys about their mean, and the kernel of their points scale k.
template <typename T>
struct CentredKeys {
  arma::Row<T> mean;
  arma::Mat<T> keys;
  T scale = 1;
  arma::Col<T> log_roots;    // log sqrt(h(k, k)) less the largest of them, which cancels
  arma::Col<T> roots;        // their exponentials
  KernelMatrix<T> kernel;    // h(k, l) / sqrt(h(k, k) h(l, l)), Gaussian
  arma::Col<T> log_weights;  // of its residual, when pivots are drawn: none, or log h(k, k)

  CentredKeys(const Problem<T>& problem, const WildcatOptions& options)
      : mean(column_sums(problem.K()) / static_cast<T>(problem.n_k())), keys(problem.K()) {
    keys.each_row() -= mean;
    const arma::Col<T> squares = squared_row_norms(keys);
    const auto p = static_cast<double>(problem.p()), largest_key = std::sqrt(static_cast<double>(squares.max())),
               largest_query = std::sqrt(static_cast<double>(squared_row_norms(problem.Q()).max()));
    scale = static_cast<T>(options.temperature > 0 ? 1 / (options.temperature * std::pow(p, 0.25))
                           : problem.n_k() > 1
                               ? wildcat_scale(largest_query, largest_key, static_cast<double>(problem.n_k()), p)
                               : 1);
    log_roots = scale * scale / 2 * squares;
    log_roots -= log_roots.max();
    kernel = gaussian_kernel_matrix(keys, scale);
    roots = arma::exp(log_roots);
    if (options.pivots == Pivots::exponential) log_weights = 2 * log_roots;
  }
};

// The coreset: its keys, and W = h(K_S, K_S)^-1 h(K_S, K) = e^{-l_S} F_S^-T F^T e^l from the factor F of the pivots of
// the Gaussian kernel. The logarithms l_S are given to the weights of attention.
template <typename T>
struct Coreset {
  arma::Mat<T> keys;
  arma::Col<T> minus_log_roots, roots;  // -l_S, and e^l of all keys
  arma::Mat<T> factor, triangle;        // F and F_S

  Coreset(const CentredKeys<T>& all, arma::uword d, const Key& draw_key) : roots(all.roots) {
    const SerialBlas serial;
    PivotedCholesky<T> cholesky = rp_cholesky(all.kernel, d, draw_key, all.log_weights);
    keys = all.keys.rows(cholesky.pivots);
    minus_log_roots = -all.log_roots.elem(cholesky.pivots);
    factor = std::move(cholesky.factor);
    triangle = factor.rows(cholesky.pivots);
  }

  // e^{l_S} W X and W^T e^{l_S} X.
  arma::Mat<T> gather(arma::Mat<T> x) const {
    const SerialBlas serial;
    multiply_rows(x, roots);
    return arma::solve(arma::trimatu(triangle.t()), product_tn(factor, x), arma::solve_opts::fast);
  }
  arma::Mat<T> spread(const arma::Mat<T>& x) const {
    const SerialBlas serial;
    arma::Mat<T> result =
        product(factor, arma::Mat<T>(arma::solve(arma::trimatl(triangle), x, arma::solve_opts::fast)));
    multiply_rows(result, roots);
    return result;
  }

  // B~ = diag(s) L^T (e^{l_S} W), L the weights of attention, d x n_q.
  static LinearOperator<T> scores(const std::shared_ptr<const Coreset>& self, const arma::Mat<T>& q) {
    arma::Mat<T> logits = scores_transposed(q, self->keys);
    logits.each_col() += self->minus_log_roots;
    softmax_columns(logits);
    const auto left = std::make_shared<const arma::Mat<T>>(std::move(logits));
    const arma::uword n_k = self->factor.n_rows;
    // Denominators of their own: the sums are those of the rows that are applied, to the last bit.
    const arma::Col<T> sums = product_tn(*left, self->gather(arma::Mat<T>(n_k, 1, arma::fill::ones))).col(0);
    return {q.n_rows, n_k,
            [=](const arma::Mat<T>& x) -> arma::Mat<T> {
              arma::Mat<T> result = product_tn(*left, self->gather(x));
              divide_rows(result, sums);
              return result;
            },
            [=](arma::Mat<T> x) -> arma::Mat<T> {
              divide_rows(x, sums);
              return self->spread(product(*left, x));
            }};
  }
};

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const CentredKeys<T>& all, arma::uword d, const Key& draw_key) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "wildcat", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  if (d == n_k) {  // W = I
    Approximation<T> approximation = from_scores(exact_scores(problem, Target::softmax), problem);
    approximation.diagnostics.rank = d;
    return approximation;
  }
  const auto coreset = std::make_shared<const Coreset<T>>(all, d, draw_key.child("pivots"));
  const arma::Mat<T> compressed = coreset->gather(arma::join_rows(problem.V(), arma::Mat<T>(n_k, 1, arma::fill::ones)));
  Approximation<T> approximation;
  arma::Col<T> shares, tops, sums;
  approximation.output =
      softmax_product<T>(problem.Q(), coreset->keys, compressed, {.row_maxima = &tops, .sums = &sums, .last = &shares},
                         coreset->minus_log_roots);
  const arma::uvec zero = arma::find(shares == 0);
  if (!zero.is_empty()) {
    throw std::runtime_error("wildcat: " + std::to_string(zero.n_elem) +
                             " denominators are zero; keys that matter to those rows underflow");
  }
  divide_rows(approximation.output, shares);
  approximation.row_sums = arma::Col<T>(n_q, arma::fill::ones);
  const T root = 1 / std::sqrt(static_cast<T>(problem.p()));
  approximation.denominators =
      Denominators<T>{shares % sums, tops + root * product_nt<T>(problem.Q(), arma::Mat<T>(all.mean)).col(0)};
  approximation.scores = deferred<T>(n_q, n_k, [=, q = problem.shared_Q()] { return Coreset<T>::scores(coreset, *q); });
  approximation.diagnostics.rank = coreset->keys.n_rows;
  return approximation;
}

const Options<WildcatOptions>& options_of_wildcat() {
  using O = WildcatOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: pivots=gaussian", {{"paper", {}}, {"code", O::code()}})
          .choice("pivots", &O::pivots, in_order<Pivots>({"exponential", "gaussian"}),
                  "kernel whose residual the pivots are drawn from; the weights are those of the exponential kernel")
          .number("temperature", &O::temperature, 0, 1e6, "tau; 0: Eq. 4, from the largest query and key");
  return options;
}

}  // namespace

double wildcat_scale(double largest_query, double largest_key, double n_k, double p) {
  const double query = largest_query / std::sqrt(p);
  if (query == 0) return 0;
  const double product = query * largest_key, log_n = std::log(n_k);
  if (product == 0) return query;  // all keys are equal: any scale
  using boost::math::lambert_w0;
  static const double rho = std::sqrt(1 + std::exp(lambert_w0(2 * std::exp(-2.0)) + 2));
  return query * std::sqrt(2 * lambert_w0((log_n / product + 2) / (2 * rho)) / (log_n + 2 * product));
}

double wildcat_flops(double n_q, double n_k, double p, double p_v, double d) {
  if (d >= n_k) return n_q * n_k * (2 * p + 2 * p_v + 1);
  const double compressing = n_k * d * (2 * p + 1 + d + 2 * (p_v + 1)) + d * d * (p_v + 1);
  return compressing + n_q * d * (2 * p + 2 * (p_v + 1) + 1);
}

template <typename T>
Approximation<T> wildcat(const Problem<T>& problem, arma::uword d, const Key& draw_key, const WildcatOptions& options) {
  require(options.temperature >= 0 && std::isfinite(options.temperature), "wildcat", "temperature >= 0",
          {{"temperature", options.temperature}});
  return approximate(problem, CentredKeys<T>(problem, options), d, draw_key);
}

template <typename T>
Method<T> wildcat_method() {
  Method<T> method;
  method.name = "wildcat";
  method.summary = "softmax over d keys that randomly pivoted Cholesky chooses, with Nystrom weights for all keys";
  method.source = "WildCat (arXiv 2602.10056) Alg. 1-3";
  method.options = options_of_wildcat().infos();
  method.rectangular = method.rows_sum_to_one = method.exact_on_equal_tokens = always(true);
  method.rowwise = [](const OptionValues& values) { return options_of_wildcat().read(values).temperature > 0; };
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const WildcatOptions options = options_of_wildcat().read(values);
    const auto all = std::make_shared<const CentredKeys<T>>(problem, options);
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, *all, d, draw_key); },
            [=](double d) { return wildcat_flops(n_q, n_k, p, p_v, d); }};
  };
  return method;
}

template Approximation<float> wildcat(const Problem<float>&, arma::uword, const Key&, const WildcatOptions&);
template Approximation<double> wildcat(const Problem<double>&, arma::uword, const Key&, const WildcatOptions&);
template Method<float> wildcat_method();
template Method<double> wildcat_method();

}  // namespace croquis
