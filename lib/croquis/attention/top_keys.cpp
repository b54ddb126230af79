#include <algorithm>
#include <cmath>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/attention/top_keys.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/larger_first.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <memory>
#include <numeric>
#include <utility>

namespace croquis {
namespace {

using RestOfTop = TopKeysOptions::Rest;
constexpr arma::uword kQueriesSorted = 64;

// For every query the keys of largest score in their order, with exp(score - top), and the sum of that over the others.
// All of it is of the same scores: computed again, of long queries and keys they would differ by more than 1. And the
// sum is no logarithm, which would be lost beside a score.
template <typename T>
struct LargestKeys {
  std::vector<std::vector<std::uint32_t>> keys;
  std::vector<std::vector<T>> weights;
  arma::Col<T> top, rest;
};

template <typename T>
LargestKeys<T> largest_keys(const Problem<T>& problem, arma::uword d) {
  const arma::uword n_q = problem.n_q();
  const Pattern pattern(problem);
  LargestKeys<T> largest{std::vector<std::vector<std::uint32_t>>(n_q), std::vector<std::vector<T>>(n_q),
                         arma::Col<T>(n_q), arma::Col<T>(n_q, arma::fill::zeros)};
  parallel_for(blocks_of(n_q, kQueriesSorted), [&](std::size_t block) {
    const arma::uword first = block * kQueriesSorted, last = std::min(n_q, first + kQueriesSorted) - 1;
    const arma::uword end = pattern.visible(last);
    arma::Mat<T> scores = scores_transposed<T>(problem.Q().rows(first, last), problem.K().head_rows(end));
    for (arma::uword i = first; i <= last; ++i) {
      const arma::uword visible = pattern.visible(i), count = std::min(d, visible);
      const T* score = scores.colptr(i - first);
      std::vector<std::uint32_t>& keys = largest.keys[i];
      keys.resize(visible);
      std::iota(keys.begin(), keys.end(), 0U);
      const auto nth = keys.begin() + static_cast<std::ptrdiff_t>(count);
      if (count < visible) std::nth_element(keys.begin(), nth, keys.end(), LargerFirst<T>{score});
      const T top = largest.top(i) = *std::max_element(score, score + visible);
      // The largest of the others stands at `nth`: their sum is taken relative to it, and loses nothing to the top.
      if (count < visible) {
        const T next = score[*nth];
        std::vector<T> others;
        others.reserve(visible - count);
        for (auto key = nth; key != keys.end(); ++key) others.push_back(score[*key]);
        largest.rest(i) = std::exp(next - top) * exp_shifted(others.data(), others.size(), next);
      }
      keys.resize(count);
      keys.shrink_to_fit();
      std::sort(keys.begin(), keys.end());
      for (const std::uint32_t key : keys) largest.weights[i].push_back(std::exp(score[key] - top));
    }
  });
  return largest;
}

// Row i of B~ is (b_ij - rho_i) at its keys and rho_i at all keys that it may meet: rho_i is the share of a key that is
// not among the largest, so that no entry is negative.
template <typename T>
struct TopScores {
  SparseColumns<T> above;  // column i: b_ij - rho_i
  arma::Col<T> rho;
  TokenAlignment tokens;
  bool causal = false;

  arma::uword visible(arma::uword i) const { return causal ? tokens.causal_keys(i) : tokens.n_k; }

  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    arma::Mat<T> y = above.transposed_times(x);
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      double sum = 0;  // in double, so that long prefixes lose nothing
      arma::uword j = 0;
      for (arma::uword i = 0; i < tokens.n_q; ++i) {
        for (; j < visible(i); ++j) sum += static_cast<double>(x(j, c));
        y(i, c) += static_cast<T>(static_cast<double>(rho(i)) * sum);
      }
    }
    return y;
  }

  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const {
    arma::Mat<T> y = above.times(x);
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      double sum = 0;
      arma::uword i = tokens.n_q;
      for (arma::uword j = tokens.n_k; j-- > 0;) {
        for (; i > 0 && visible(i - 1) > j; --i) sum += static_cast<double>(rho(i - 1) * x(i - 1, c));
        y(j, c) += static_cast<T>(sum);
      }
    }
    return y;
  }
};

Options<TopKeysOptions> options_of_top_keys() {
  return Options<TopKeysOptions>().choice("rest", &TopKeysOptions::rest,
                                          Choices<RestOfTop>{{"mean", RestOfTop::mean}, {"none", RestOfTop::none}},
                                          "the weight of the other keys: shared equally, or given to the largest");
}

}  // namespace

template <typename T>
Approximation<T> top_keys(const Problem<T>& problem, arma::uword d, const TopKeysOptions& options) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "top-keys", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  LargestKeys<T> largest = largest_keys(problem, d);
  if (options.rest == RestOfTop::none) largest.rest.zeros();
  const auto scores =
      std::make_shared<TopScores<T>>(TopScores<T>{{}, arma::Col<T>(n_q), problem.tokens(), problem.is_causal()});
  arma::Col<T> sums = std::move(largest.rest);
  SparseColumns<T>& above = scores->above;
  above.rows = n_k;
  above.cols = n_q;
  above.start = {0};
  for (arma::uword i = 0; i < n_q; ++i) {
    const std::vector<T>& own = largest.weights[i];
    const arma::uword others = scores->visible(i) - own.size();
    const T rest = sums(i), share = 1 / (sums(i) += std::accumulate(own.begin(), own.end(), T(0)));
    const T rho = others > 0 ? rest * share / static_cast<T>(others) : T(0);
    above.index.insert(above.index.end(), largest.keys[i].begin(), largest.keys[i].end());
    for (const T weight : own) above.value.push_back(weight * share - rho);
    above.start.push_back(above.index.size());
    scores->rho(i) = rho;
    largest.keys[i] = {};
    largest.weights[i] = {};
  }
  Approximation<T> approximation = from_scores(operator_of<T>(n_q, n_k, scores), problem);
  approximation.denominators = Denominators<T>{std::move(sums), std::move(largest.top)};
  return approximation;
}

template <typename T>
Method<T> top_keys_method() {
  Method<T> method;
  method.name = "top-keys";
  method.summary = "every query's d largest scores exactly, the mean of the other values: an oracle, quadratic in n";
  method.source = "docs/methods/top-keys.md";
  method.quadratic = always(true);
  method.causal = true;
  method.random = always(false);
  method.options = options_of_top_keys().infos();
  method.rectangular = method.rowwise = method.rows_sum_to_one = always(true);
  method.exact_on_equal_tokens = [](const OptionValues& values) {
    return options_of_top_keys().read(values).rest == RestOfTop::mean;
  };
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const TopKeysOptions options = options_of_top_keys().read(values);
    const auto p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key&) { return top_keys(problem, d, options); },
            [=](double d) {
              const double all = most_visits(problem, static_cast<double>(problem.n_k())),
                           met = most_visits(problem, d);
              return all * 2 * p + met * 2 * p_v + (options.rest == RestOfTop::mean ? all : met);
            }};
  };
  return method;
}

template Approximation<float> top_keys(const Problem<float>&, arma::uword, const TopKeysOptions&);
template Approximation<double> top_keys(const Problem<double>&, arma::uword, const TopKeysOptions&);
template Method<float> top_keys_method();
template Method<double> top_keys_method();

}  // namespace croquis
