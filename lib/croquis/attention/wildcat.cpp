#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/wildcat.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/equal_rows.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/sampling/rp_cholesky.hpp>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace croquis {
namespace {

using Pivots = WildcatOptions::Pivots;

// The estimate of what rounding changes, relative to a row's denominator, above which a call is refused.
constexpr double kMostWildcatRounding = 0.01;

// What d and the trials share: the different keys about their mean, and the kernel of their points scale k.
template <typename T>
struct CentredKeys {
  arma::Row<T> mean;
  EqualRows kinds;  // equal keys are one: as pivots they would be told apart by rounding alone
  arma::Mat<T> keys;
  T scale = 1;
  arma::Col<T> log_roots;  // l = log sqrt(h(k, k)) less the largest of them, which cancels
  T rounding = 0;          // relative, of an entry of the kernel: its exponent has been computed from squares
  KernelMatrix<T> kernel;  // h(k, l) / sqrt(h(k, k) h(l, l)), Gaussian
  arma::Col<T>
      log_weights;  // of its residual, when pivots are drawn: none, or log h(k, k); and how many keys are equal

  CentredKeys(const Problem<T>& problem, const WildcatOptions& options)
      : mean(column_sums(problem.K()) / static_cast<T>(problem.n_k())),
        kinds(equal_rows(problem.K())),
        keys(problem.K().rows(kinds.first)) {
    keys.each_row() -= mean;
    const arma::Col<T> squares = squared_row_norms(keys);
    const auto p = static_cast<double>(problem.p()), largest_key = std::sqrt(static_cast<double>(squares.max())),
               largest_query = std::sqrt(static_cast<double>(squared_row_norms(problem.Q()).max()));
    scale = static_cast<T>(options.temperature > 0 ? 1 / (options.temperature * std::pow(p, 0.25))
                           : problem.n_k() > 1
                               ? wildcat_scale(largest_query, largest_key, static_cast<double>(problem.n_k()), p)
                               : 1);
    require(std::isfinite(scale * scale), "wildcat", "1 / (temperature^2 sqrt(p)) below infinity",
            {{"temperature", options.temperature}, {"p", p}});
    log_roots = scale * scale / 2 * squares;
    // The kernel squares distances, which are at most twice a norm.
    require(std::isfinite(8 * log_roots.max()), "wildcat", "exponents |k|^2 / (temperature^2 sqrt(p)) below infinity",
            {{"temperature", options.temperature}, {"largest |k - mean|", largest_key}});
    rounding = std::numeric_limits<T>::epsilon() * (1 + 2 * log_roots.max());
    log_roots -= log_roots.max();
    kernel = gaussian_kernel_matrix(keys, scale);
    if (options.pivots == Pivots::exponential) log_weights = 2 * log_roots;
    if (keys.n_rows < problem.n_k()) {
      arma::Col<T> counts(keys.n_rows, arma::fill::zeros);
      for (const arma::uword kind : kinds.kind) ++counts[kind];
      if (log_weights.is_empty()) log_weights.zeros(keys.n_rows);
      log_weights += arma::log(counts);
    }
  }
};

// The coreset: its keys, and W = h(K_S, K_S)^-1 h(K_S, K). At the pivots S this is the identity, and so it is taken;
// for the other keys R it is e^{-l_S} F_S^-T F_R^T e^{l_R}, from the factor F of the pivots of the Gaussian kernel. The
// logarithms g are of what each row of W is divided by, so that no entry of it overflows; attention's weights have
// them.
template <typename T>
struct Coreset {
  arma::uvec kind, pivots, others;  // of all keys; of the different ones
  arma::Mat<T> keys;
  arma::Mat<T> factor, triangle;  // e^{l_R - max l_R} F_R and F_S
  arma::Col<T> log_scales;        // g
  arma::Col<T> own, of_others;    // e^{-g} and e^{max l_R - l_S - g}
  arma::Mat<T> probe;             // a column of W X as rounding errors may change it

  Coreset(const CentredKeys<T>& all, arma::uword d, const Key& draw_key) : kind(all.kinds.kind) {
    const SerialBlas serial;
    const arma::uword n = all.keys.n_rows;
    arma::Mat<T> of_all;
    if (d < n) {
      PivotedCholesky<T> cholesky = rp_cholesky(all.kernel, d, draw_key, all.log_weights);
      pivots = std::move(cholesky.pivots);
      of_all = std::move(cholesky.factor);
    } else {
      pivots = arma::regspace<arma::uvec>(0, n - 1);
      of_all.eye(n, n);
    }
    arma::uvec left(n, arma::fill::ones);
    left.elem(pivots).zeros();
    others = arma::find(left);
    keys = all.keys.rows(pivots);
    triangle = of_all.rows(pivots);
    factor = of_all.rows(others);
    const arma::Col<T> logs = all.log_roots.elem(others);
    const T longest = others.is_empty() ? T(0) : logs.max();
    multiply_rows<T>(factor, arma::exp(logs - longest));
    scale_rows(all, longest);
  }

  // The scales of the rows of W and the probe, once the factors are known. `longest` is the largest of l_R.
  void scale_rows(const CentredKeys<T>& all, T longest) {
    // Sums of e^{l_S} W over the keys, as they are and with signs that keep large entries from cancelling.
    arma::Mat<T> summed(others.n_elem, 2, arma::fill::ones);
    for (arma::uword j = 1; j < others.n_elem; j += 2) summed.at(j, 1) = -1;
    const arma::Col<T> sums = arma::max(arma::abs(with_factor(summed)), 1);
    // What rounding may do to them. F F^T is the kernel up to `rounding` |F| |F|^T; that of the other keys counts as it
    // is, that of the pivots as often as W takes them. Errors have signs, so that those that are large for a few
    // queries alone, where pivots are nearly dependent, stay so.
    const arma::Mat<T> sizes = arma::abs(triangle);
    arma::Col<T> errors =
        all.rounding * (sizes * (arma::sum(arma::abs(factor), 0).t() + sizes.t() * sums)) / arma::Col<T>(sizes.diag());
    for (arma::uword c = 1; c < errors.n_elem; c += 2) errors[c] = -errors[c];
    probe = arma::solve(arma::trimatu(triangle.t()), errors, arma::solve_opts::fast);
    log_scales.zeros(pivots.n_elem);
    own.ones(pivots.n_elem);
    of_others.zeros(pivots.n_elem);
    for (arma::uword s = 0; s < pivots.n_elem; ++s) {
      const T size = std::max(sums[s], std::abs(probe[s])), log = longest - all.log_roots[pivots[s]];
      if (size < std::numeric_limits<T>::min()) continue;  // nothing is left of the other keys
      log_scales[s] = std::max(T(0), log + std::log(size));
      own[s] = std::exp(-log_scales[s]);
      of_others[s] = std::exp(log - log_scales[s]);
    }
    multiply_rows(probe, of_others);
  }

  // F_S^-T F_R^T e^{l_R} X.
  arma::Mat<T> with_factor(const arma::Mat<T>& x) const {
    return arma::solve(arma::trimatu(triangle.t()), product_tn(factor, x), arma::solve_opts::fast);
  }

  // e^{-g} W X and W^T e^{-g} X.
  arma::Mat<T> gather(const arma::Mat<T>& x) const {
    const SerialBlas serial;
    arma::Mat<T> sums(pivots.n_elem + others.n_elem, x.n_cols, arma::fill::zeros);  // of equal keys
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      for (arma::uword j = 0; j < x.n_rows; ++j) sums.at(kind[j], c) += x.at(j, c);
    }
    arma::Mat<T> at_pivots = sums.rows(pivots), result = with_factor(sums.rows(others));
    multiply_rows(at_pivots, own);
    multiply_rows(result, of_others);
    return result + at_pivots;
  }
  arma::Mat<T> spread(arma::Mat<T> x) const {
    const SerialBlas serial;
    arma::Mat<T> result(pivots.n_elem + others.n_elem, x.n_cols), at_pivots = x;
    multiply_rows(at_pivots, own);
    result.rows(pivots) = at_pivots;
    multiply_rows(x, of_others);
    result.rows(others) =
        product(factor, arma::Mat<T>(arma::solve(arma::trimatl(triangle), x, arma::solve_opts::fast)));
    return result.rows(kind);
  }

  // B~ = diag(s) L^T (e^{-g} W), L the weights of attention, d x n_q.
  static LinearOperator<T> scores(const std::shared_ptr<const Coreset>& self, const arma::Mat<T>& q) {
    arma::Mat<T> logits = scores_transposed(q, self->keys);
    logits.each_col() += self->log_scales;
    softmax_columns(logits);
    const auto left = std::make_shared<const arma::Mat<T>>(std::move(logits));
    const arma::uword n_k = self->kind.n_elem;
    const LinearOperator<T> products{
        q.n_rows, n_k, [=](const arma::Mat<T>& x) -> arma::Mat<T> { return product_tn(*left, self->gather(x)); },
        [=](const arma::Mat<T>& x) -> arma::Mat<T> { return self->spread(product(*left, x)); }};
    // Denominators of their own: the sums are those of the rows that are applied, to the last bit.
    return divided_rows<T>(products, products.apply(arma::Mat<T>(n_k, 1, arma::fill::ones)));
  }
};

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const CentredKeys<T>& all, arma::uword d, const Key& draw_key) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k(), p_v = problem.p_v();
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
  arma::Mat<T>& output = approximation.output;
  output = softmax_product<T>(problem.Q(), coreset->keys,
                              arma::join_rows(compressed.head_cols(p_v), coreset->probe, compressed.tail_cols(1)),
                              {.row_maxima = &tops, .sums = &sums, .last = &shares}, coreset->log_scales);
  const arma::uvec zero = arma::find(shares == 0);
  if (!zero.is_empty()) {
    throw std::runtime_error("wildcat: " + std::to_string(zero.n_elem) +
                             " denominators are zero; keys that matter to those rows underflow");
  }
  const arma::uvec rounded = arma::find(arma::abs(output.col(p_v)) > T(kMostWildcatRounding) * arma::abs(shares));
  if (!rounded.is_empty()) {
    throw std::runtime_error("wildcat: rounding may decide " + std::to_string(rounded.n_elem) +
                             " rows, which attend to keys so much shorter than others that the weights of those drown "
                             "theirs");
  }
  output.shed_col(p_v);
  divide_rows(output, shares);
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
          .choice("pivots", &O::pivots, in_order<Pivots>({"exponential", "gaussian"}),
                  "kernel whose residual the pivots are drawn from; the weights are those of the exponential kernel")
          .number("temperature", &O::temperature, 0, 1e6, "tau; 0: Eq. 4, from the largest query and key");
  return options;
}

}  // namespace

double wildcat_scale(double largest_query, double largest_key, double n_k, double p) {
  const double query = largest_query / std::sqrt(p);
  if (query == 0) return 0;
  const double product = query * largest_key, log_n = std::log(n_k), quotient = log_n / product;
  if (!std::isfinite(quotient)) return query;  // all keys are equal, or as good as equal: any scale
  using boost::math::lambert_w0;
  static const double rho = std::sqrt(1 + std::exp(lambert_w0(2 * std::exp(-2.0)) + 2));
  return query * std::sqrt(2 * lambert_w0((quotient + 2) / (2 * rho)) / (log_n + 2 * product));
}

double wildcat_flops(double n_q, double n_k, double p, double p_v, double d) {
  if (d >= n_k) return n_q * n_k * pair_flops(p, p_v);
  const double compressing = n_k * d * (2 * p + 1 + d + 2 * (p_v + 1)) + d * d * (p_v + 1);
  return compressing + n_q * d * (2 * p + 2 * (p_v + 1) + 1);
}

template <typename T>
Approximation<T> wildcat(const Problem<T>& problem, arma::uword d, const Key& draw_key, const WildcatOptions& options) {
  require(options.temperature >= 0 && std::isfinite(options.temperature), "wildcat", "temperature >= 0 and finite",
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
