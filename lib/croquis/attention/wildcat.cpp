#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/kernelized_scores.hpp>
#include <croquis/attention/wildcat.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/nystrom/core_inverse.hpp>
#include <croquis/sampling/rp_cholesky.hpp>
#include <limits>
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
  arma::Col<T> log_roots;   // log sqrt(h(k, k)) less the largest of them, which cancels
  KernelMatrix<T> pivoted;  // whose residual the pivots are drawn from

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
    pivoted = gaussian_kernel_matrix(keys, scale);
    if (options.pivots == Pivots::exponential) weight(arma::exp(log_roots));
  }

 private:
  // M to D M D.
  void weight(const arma::Col<T>& roots) {
    pivoted.diagonal %= arma::square(roots);
    pivoted.block = [roots, block = pivoted.block](const arma::uvec& rows, const arma::uvec& cols) -> arma::Mat<T> {
      arma::Mat<T> entries = block(rows, cols);
      entries.each_col() %= roots.elem(rows);
      entries.each_row() %= roots.elem(cols).t();
      return entries;
    };
  }
};

// The coreset: its keys, and W X = e^{-l_S} kappa(K_S, K_S)^+ kappa(K_S, K) e^{l} X. The logarithms l_S are given to
// the weights of attention.
template <typename T>
struct Coreset {
  std::shared_ptr<const CentredKeys<T>> all;
  arma::Mat<T> keys;
  arma::Col<T> minus_log_roots, roots;  // -l_S, and e^l of all keys
  CoreInverse<T> core;

  Coreset(std::shared_ptr<const CentredKeys<T>> all_, arma::uword d, const Key& draw_key) : all(std::move(all_)) {
    const arma::uvec pivots = rp_cholesky(all->pivoted, d, draw_key).pivots;
    keys = all->keys.rows(pivots);
    minus_log_roots = -all->log_roots.elem(pivots);
    roots = arma::exp(all->log_roots);
    const T error = std::min<T>(static_cast<T>(0.5), static_cast<T>(pivots.n_elem) * std::numeric_limits<T>::epsilon() *
                                                         all->pivoted.entry_error());
    core = invert_core(gaussian_kernel<T>(points(keys)), error);
  }

  CentredPoints<T> points(const arma::Mat<T>& rows) const { return {rows, all->scale, nullptr}; }

  // e^{l_S} W X for rows of X that have been multiplied by e^l.
  arma::Mat<T> gather(const arma::Mat<T>& x) const {
    return core.inverse.apply(gaussian_product<T>(points(keys), points(all->keys), x));
  }

  // The score matrix in factors: diag(s) L core R^T diag(e^l), L the weights of attention.
  LinearOperator<T> scores(const arma::Mat<T>& q) const {
    const auto self = std::make_shared<const Coreset>(*this);
    arma::Mat<T> logits = scores_transposed(q, keys);
    logits.each_col() += minus_log_roots;
    softmax_columns(logits);
    const auto left = std::make_shared<const arma::Mat<T>>(std::move(logits));  // d x n_q
    const auto right = std::make_shared<const arma::Mat<T>>(gaussian_kernel<T>(points(keys), points(all->keys)));
    const auto plain = [=](arma::Mat<T> x) -> arma::Mat<T> {
      multiply_rows(x, self->roots);
      return product_tn(*left, self->core.inverse.apply(product(*right, x)));
    };
    // Denominators of their own: the sums are those of the rows that are applied, to the last bit.
    const arma::Col<T> sums = plain(arma::Mat<T>(right->n_cols, 1, arma::fill::ones)).col(0);
    return {q.n_rows, right->n_cols,
            [=](const arma::Mat<T>& x) -> arma::Mat<T> {
              arma::Mat<T> result = plain(x);
              divide_rows(result, sums);
              return result;
            },
            [=](arma::Mat<T> x) -> arma::Mat<T> {
              divide_rows(x, sums);
              x = product_tn(*right, self->core.inverse.apply_transposed(product(*left, x)));
              multiply_rows(x, self->roots);
              return x;
            }};
  }
};

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const std::shared_ptr<const CentredKeys<T>>& all, arma::uword d,
                             const Key& draw_key) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "wildcat", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  if (d == n_k) {  // W = I
    Approximation<T> approximation = from_scores(exact_scores(problem, Target::softmax), problem);
    approximation.diagnostics.rank = d;
    return approximation;
  }
  const Coreset<T> coreset(all, d, draw_key.child("pivots"));
  const arma::Mat<T> compressed = coreset.gather(weighted_values(problem.V(), coreset.roots));
  Approximation<T> approximation;
  arma::Col<T> shares, tops, sums;
  approximation.output =
      softmax_product<T>(problem.Q(), coreset.keys, compressed, {.row_maxima = &tops, .sums = &sums, .last = &shares},
                         coreset.minus_log_roots);
  const arma::uvec zero = arma::find(shares == 0);
  if (!zero.is_empty()) {
    throw std::runtime_error("wildcat: " + std::to_string(zero.n_elem) +
                             " denominators are zero; keys that matter to those rows underflow");
  }
  divide_rows(approximation.output, shares);
  approximation.row_sums = arma::Col<T>(n_q, arma::fill::ones);
  const T root = 1 / std::sqrt(static_cast<T>(problem.p()));
  approximation.denominators =
      Denominators<T>{shares % sums, tops + root * product_nt<T>(problem.Q(), arma::Mat<T>(all->mean)).col(0)};
  approximation.scores = deferred<T>(n_q, n_k, [=, q = problem.shared_Q()] { return coreset.scores(*q); });
  approximation.diagnostics.rank = coreset.core.rank;
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
  const double compressing = n_k * d * (4 * p + 2 * (p_v + 1) + 2) + n_k * d * d + 9 * d * d * d;
  return compressing + n_q * d * (2 * p + 2 * (p_v + 1) + 1);
}

template <typename T>
Approximation<T> wildcat(const Problem<T>& problem, arma::uword d, const Key& draw_key, const WildcatOptions& options) {
  require(options.temperature >= 0 && std::isfinite(options.temperature), "wildcat", "temperature >= 0",
          {{"temperature", options.temperature}});
  return approximate(problem, std::make_shared<const CentredKeys<T>>(problem, options), d, draw_key);
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
    const auto all = std::make_shared<const CentredKeys<T>>(problem, options_of_wildcat().read(values));
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, all, d, draw_key); },
            [=](double d) { return wildcat_flops(n_q, n_k, p, p_v, d); }};
  };
  return method;
}

template Approximation<float> wildcat(const Problem<float>&, arma::uword, const Key&, const WildcatOptions&);
template Approximation<double> wildcat(const Problem<double>&, arma::uword, const Key&, const WildcatOptions&);
template Method<float> wildcat_method();
template Method<double> wildcat_method();

}  // namespace croquis
