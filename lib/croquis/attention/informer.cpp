#include <algorithm>
#include <cmath>
#include <croquis/attention/informer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/larger_first.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/draws.hpp>
#include <memory>
#include <numeric>
#include <vector>

namespace croquis {
namespace {

using Count = InformerOptions::Count;
using Mean = InformerOptions::Mean;

constexpr arma::uword kQueriesAtOnce = 64;

// u and U of the problem.
struct Counts {
  double rows, keys;
};

Counts counts_for(double d, double n_q, double n_k, const InformerOptions& options) {
  Counts counts = {d, d};
  if (options.count == Count::rounded && n_q >= 2) {
    const double factor = std::ceil(d / std::log(n_q));
    counts.rows = std::min(factor * std::ceil(std::log(n_q)), n_q);
    counts.keys = std::max(1.0, std::min(factor * std::ceil(std::log(n_k)), n_k));
  }
  if (options.keys > 0) counts.keys = static_cast<double>(options.keys);
  return counts;
}

// M_i of every query.
template <typename T>
arma::Col<T> sparsity(const Problem<T>& problem, arma::uword samples, T divisor, const Key& draw_key) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const arma::Mat<T> q = transposed(problem.Q()), k = transposed(problem.K());
  const T share = 1 / divisor;
  arma::Col<T> measure(n_q);
  parallel_for(blocks_of(n_q, kQueriesAtOnce), [&](std::size_t block) {
    std::vector<std::uint64_t> words(samples);
    std::vector<std::uint32_t> keys(samples);
    std::vector<T> scores(samples);
    for (arma::uword i = block * kQueriesAtOnce; i < std::min(n_q, (block + 1) * kQueriesAtOnce); ++i) {
      fill_words(draw_key.child(i), 0, samples, words.data());
      for (arma::uword s = 0; s < samples; ++s) keys[s] = static_cast<std::uint32_t>(place_of(words[s], n_k));
      dots(q.colptr(i), k.memptr(), k.n_rows, keys.data(), samples, scores.data());
      T sums[4] = {};                                                              // that need not wait for each other
      for (arma::uword s = 0; s < samples; ++s) sums[s % 4] += share * scores[s];  // so that none can overflow
      measure(i) = maximum(scores.data(), samples) - ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
  });
  return measure;
}

arma::uvec largest_of(const std::vector<double>& measure, arma::uword count) {
  std::vector<arma::uword> order(measure.size());
  std::iota(order.begin(), order.end(), arma::uword{0});
  keep_largest(measure.data(), count, order);
  return order;
}

// Of n_q rows of the product `top` are given, all others are the mean of the rows of X.
template <typename T>
arma::Mat<T> with_means(const arma::Mat<T>& x, arma::uword n_q, const arma::uvec& top, const arma::Mat<T>& rows) {
  const arma::Row<T> mean = column_sums(x) / static_cast<T>(x.n_rows);
  arma::Mat<T> y(n_q, x.n_cols, arma::fill::none);
  parallel_for(x.n_cols, n_q, [&](std::size_t c) {
    T* column = y.colptr(c);
    std::fill_n(column, n_q, mean[c]);
    for (arma::uword i = 0; i < top.n_elem; ++i) column[top[i]] = rows(i, c);
  });
  return y;
}

// Rows `top` of B, transposed (n_k x u); all other rows are 1/n_k.
template <typename T>
struct TopRows {
  arma::uword n_q;
  arma::uvec top;
  arma::Mat<T> scores;

  arma::Mat<T> apply(const arma::Mat<T>& x) const { return with_means<T>(x, n_q, top, product_tn(scores, x)); }

  arma::Mat<T> apply_transposed(arma::Mat<T> x) const {
    const arma::Mat<T> chosen = x.rows(top);
    x.rows(top).zeros();
    arma::Mat<T> y = product(scores, chosen);
    const T share = static_cast<T>(n_q) / static_cast<T>(y.n_rows);
    y.each_row() += share * arma::mean(x, 0);
    return y;
  }
};

const Options<InformerOptions>& options_of_informer() {
  using O = InformerOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: ceil(d/ln n) ceil(ln n) rows, mean=all; masked: mean=all",
                  {{"paper", {}}, {"code", O::code()}, {"masked", O::masked()}})
          .count("keys", &O::keys, 0, 1000000, "keys sampled a query; 0: as many as rows, or what the preset says")
          .choice("mean", &O::mean, Choices<Mean>{{"sampled", Mean::sampled}, {"all", Mean::all}},
                  "what the sum of the sampled scores is divided by: their number, or n");
  return options;
}

}  // namespace

InformerOptions InformerOptions::code() {
  return {.count = Count::rounded, .mean = Mean::all};
}
InformerOptions InformerOptions::masked() {
  return {.mean = Mean::all};
}

template <typename T>
Approximation<T> informer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                          const InformerOptions& options) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  require(d >= 1 && d <= n_q, "informer", "1 <= d <= n_q", {{"d", d}, {"n_q", n_q}});
  const Counts counts = counts_for(static_cast<double>(d), static_cast<double>(n_q), static_cast<double>(n_k), options);
  const auto rows = static_cast<arma::uword>(counts.rows), samples = static_cast<arma::uword>(counts.keys);
  const arma::uword divisor = options.mean == Mean::sampled ? samples : n_k;
  const arma::Col<T> measure = sparsity(problem, samples, static_cast<T>(divisor), draw_key.child("keys"));

  const arma::uvec top = largest_of(arma::conv_to<std::vector<double>>::from(measure), rows);
  const arma::Mat<T> queries = problem.Q().rows(top);
  Approximation<T> approximation;
  approximation.output = with_means<T>(problem.V(), n_q, top, softmax_product<T>(queries, problem.K(), problem.V()));
  approximation.scores = deferred<T>(n_q, n_k, [=]() -> LinearOperator<T> {
    const auto b =
        std::make_shared<const TopRows<T>>(TopRows<T>{n_q, top, softmax_transposed<T>(queries, problem.K())});
    return operator_of<T>(n_q, n_k, b);
  });
  return approximation;
}

template <typename T>
Method<T> informer_method() {
  Method<T> method;
  method.name = "informer";
  method.summary = "exact rows where sampled scores are far from uniform, the mean of the values elsewhere";
  method.source = "Informer; equal d as in Skeinformer Sec. 6.2";
  method.options = options_of_informer().infos();
  method.rectangular = method.rows_sum_to_one = method.exact_on_equal_tokens = always(true);
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_q; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const InformerOptions options = options_of_informer().read(values);
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return informer(problem, d, draw_key, options); },
            [=](double d) {
              const Counts counts = counts_for(d, n_q, n_k, options);
              return 2 * n_q * counts.keys * p + 2 * n_k * counts.rows * (p + p_v) + n_k * counts.rows;
            }};
  };
  return method;
}

template Approximation<float> informer(const Problem<float>&, arma::uword, const Key&, const InformerOptions&);
template Approximation<double> informer(const Problem<double>&, arma::uword, const Key&, const InformerOptions&);
template Method<float> informer_method();
template Method<double> informer_method();

}  // namespace croquis
