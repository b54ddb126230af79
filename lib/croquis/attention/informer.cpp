#include <algorithm>
#include <cmath>
#include <croquis/attention/informer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/sketch/draws.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace croquis {
namespace {

using Count = InformerOptions::Count;
using Mean = InformerOptions::Mean;

constexpr arma::uword kQueriesAtOnce = 64;

double rows_for(double d, double n, Count count) {
  if (count == Count::given || n < 2) return d;
  return std::min(std::ceil(d / std::log(n)) * std::ceil(std::log(n)), n);
}

// M_i of every query.
template <typename T>
arma::Col<T> sparsity(const Problem<T>& problem, arma::uword samples, T divisor, const Stream& stream) {
  const arma::uword n = problem.n();
  const arma::Mat<T> q = transposed(problem.Q()), k = transposed(problem.K());
  arma::Col<T> measure(n);
  parallel_for((n + kQueriesAtOnce - 1) / kQueriesAtOnce, [&](std::size_t block) {
    std::vector<std::uint64_t> words(samples);
    std::vector<std::uint32_t> keys(samples);
    std::vector<T> scores(samples);
    for (arma::uword i = block * kQueriesAtOnce; i < std::min(n, (block + 1) * kQueriesAtOnce); ++i) {
      fill_words(stream.child(i), 0, samples, words.data());
      T largest = -std::numeric_limits<T>::infinity(), sum = 0;
      for (arma::uword s = 0; s < samples; ++s) keys[s] = static_cast<std::uint32_t>(place_of(words[s], n));
      dots(q.colptr(i), k.memptr(), k.n_rows, keys.data(), samples, scores.data());
      for (const T score : scores) {
        largest = std::max(largest, score);
        sum += score / divisor;  // each, so that the sum cannot overflow
      }
      measure(i) = largest - sum;
    }
  });
  return measure;
}

arma::uvec largest_of(const std::vector<double>& measure, arma::uword count) {
  std::vector<arma::uword> order(measure.size());
  std::iota(order.begin(), order.end(), arma::uword{0});
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), last, order.end(), [&](arma::uword a, arma::uword b) {
    return measure[a] != measure[b] ? measure[a] > measure[b] : a < b;
  });
  return arma::uvec(std::vector<arma::uword>(order.begin(), last));
}

// Rows `top` of B, transposed (n x u); all other rows are 1/n.
template <typename T>
struct TopRows {
  arma::uvec top;
  arma::Mat<T> scores;

  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    arma::Mat<T> y = arma::repmat(arma::mean(x, 0), x.n_rows, 1);
    y.rows(top) = product_tn(scores, x);
    return y;
  }

  arma::Mat<T> apply_transposed(arma::Mat<T> x) const {
    const arma::Mat<T> chosen = x.rows(top);
    x.rows(top).zeros();
    arma::Mat<T> y = product(scores, chosen);
    y.each_row() += arma::mean(x, 0);
    return y;
  }
};

InformerOptions options_from(const OptionValues& values) {
  InformerOptions options;
  const std::string preset = values.take_choice("preset", {"paper", "code", "masked"}, "paper");
  if (preset == "code") options = InformerOptions::code();
  if (preset == "masked") options = InformerOptions::masked();
  options.keys = static_cast<arma::uword>(values.take_count("keys", 0, 1000000, 0));
  options.mean = values.take_choice("mean", {"sampled", "all"}, options.mean == Mean::all ? "all" : "sampled") == "all"
                     ? Mean::all
                     : Mean::sampled;
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
Approximation<T> informer(const Problem<T>& problem, arma::uword d, const Stream& stream,
                          const InformerOptions& options) {
  const arma::uword n = problem.n();
  require(d >= 1 && d <= n, "informer", "1 <= d <= n", {{"d", d}, {"n", n}});
  const auto rows = static_cast<arma::uword>(rows_for(static_cast<double>(d), static_cast<double>(n), options.count));
  const arma::uword samples = options.keys == 0 ? rows : options.keys;
  const arma::uword divisor = options.mean == Mean::sampled ? samples : n;
  const arma::Col<T> measure = sparsity(problem, samples, static_cast<T>(divisor), stream.child("keys"));

  const auto b = std::make_shared<TopRows<T>>();
  b->top = largest_of(arma::conv_to<std::vector<double>>::from(measure), rows);
  b->scores = softmax_transposed<T>(problem.Q().rows(b->top), problem.K());
  return from_scores<T>({n, n, [b](const arma::Mat<T>& x) { return b->apply(x); },
                         [b](const arma::Mat<T>& x) { return b->apply_transposed(x); }},
                        problem);
}

template <typename T>
Method<T> informer_method() {
  Method<T> method;
  method.name = "informer";
  method.summary = "exact rows where sampled scores are far from uniform, the mean of the values elsewhere";
  method.source = "Skeinformer Sec. 3.3";
  method.options = {
      {"preset", "paper|code|masked", "paper", "code: ceil(d/ln n) ceil(ln n) rows, mean=all; masked: mean=all"},
      {"keys", "0 to 1000000", "0", "keys sampled a query; 0: as many as rows"},
      {"mean", "sampled|all", "sampled", "what the sum of the sampled scores is divided by: their number, or n"}};
  method.bind = [](const Problem<T>& problem, const OptionValues& values) -> BoundMethod<T> {
    const InformerOptions options = options_from(values);
    const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v()), fixed = static_cast<double>(options.keys);
    return {[=](arma::uword d, const Stream& stream) { return informer(problem, d, stream, options); },
            [=](double d) {
              const double rows = rows_for(d, n, options.count), samples = fixed > 0 ? fixed : rows;
              return 2 * n * samples * p + 2 * n * rows * (p + p_v) + n * rows;
            }};
  };
  return method;
}

template Approximation<float> informer(const Problem<float>&, arma::uword, const Stream&, const InformerOptions&);
template Approximation<double> informer(const Problem<double>&, arma::uword, const Stream&, const InformerOptions&);
template Method<float> informer_method();
template Method<double> informer_method();

}  // namespace croquis
