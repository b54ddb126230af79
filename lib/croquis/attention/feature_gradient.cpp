// feature_attention_gradient: the adjoint of attention by features, in blocks of tokens.
#include <algorithm>
#include <croquis/attention/feature_attention.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/rows.hpp>
#include <functional>
#include <utility>
#include <vector>

namespace croquis {
namespace {

constexpr arma::uword kTokens = 256, kTokenGroups = 8;

// The sum of body(first, last) over blocks of tokens, each a matrix like `zero`: blocks are dealt out to groups, whose
// sums are added in order.
template <typename T>
arma::Mat<T> sum_of_blocks(arma::uword tokens, arma::SizeMat size,
                           const std::function<void(arma::uword first, arma::uword last, arma::Mat<T>& sum)>& body) {
  const arma::uword blocks = blocks_of(tokens, kTokens), groups = std::min(kTokenGroups, blocks);
  std::vector<arma::Mat<T>> sums(groups);
  parallel_for(groups, [&](std::size_t g) {
    sums[g].zeros(size);
    for (arma::uword b = g; b < blocks; b += groups) {
      body(b * kTokens, std::min((b + 1) * kTokens, tokens) - 1, sums[g]);
    }
  });
  for (arma::uword g = 1; g < groups; ++g) sums[0] += sums[g];
  return std::move(sums[0]);
}

}  // namespace

template <typename T>
arma::Mat<T> quotient_cotangent(const arma::Mat<T>& products, const arma::Mat<T>& cotangent) {
  const arma::uword c = cotangent.n_cols;
  require(products.n_rows == cotangent.n_rows && products.n_cols == c + 1, "quotient_cotangent",
          "products with a row for each of the cotangent, and a column more",
          {{"rows", products.n_rows}, {"cols", products.n_cols}, {"cotangent.rows", cotangent.n_rows}, {"c", c}});
  const arma::Col<T> share = 1 / products.col(c);
  arma::Mat<T> result(cotangent.n_rows, c + 1, arma::fill::none);
  result.head_cols(c) = cotangent.each_col() % share;
  result.col(c) = -row_products<T>(result.head_cols(c), products.head_cols(c)) % share;
  return result;
}

template <typename T>
Gradient<T> from_points(const Problem<T>& problem, Target target, typename FeatureAdjoint<T>::Points points,
                        arma::Mat<T> of_values, arma::Col<T> of_bias) {
  if (has_unit_rows(target)) {
    points.x = unit_rows_adjoint(problem.Q(), points.x);
    points.y = unit_rows_adjoint(problem.K(), points.y);
  }
  return {std::move(points.x), std::move(points.y), std::move(of_values), std::move(of_bias)};
}

template <typename T>
Gradient<T> feature_attention_gradient(const FeaturePair<T>& features, const Problem<T>& problem, Target target,
                                       const arma::Mat<T>& cotangent) {
  const SerialBlas serial;
  require_points_of(problem, features, "feature_attention_gradient");
  require(cotangent.n_rows == problem.n_q() && cotangent.n_cols == problem.p_v(), "feature_attention_gradient",
          "a cotangent of n_q x p_v",
          {{"rows", cotangent.n_rows}, {"cols", cotangent.n_cols}, {"n_q", problem.n_q()}, {"p_v", problem.p_v()}});
  const arma::uword d = features.count(), c = problem.p_v();
  const arma::span all(0, features.directions() - 1);
  const auto shifts = features.shifts();
  FeatureAdjoint<T> adjoint(features);
  const arma::Mat<T> values = arma::join_rows(problem.V(), arma::Mat<T>(problem.n_k(), 1, arma::fill::ones));
  const auto tokens = [](arma::uword first, arma::uword last) { return arma::regspace<arma::uvec>(first, last); };

  const arma::Mat<T> a = sum_of_blocks<T>(
      problem.n_k(), arma::size(d, c + 1), [&](arma::uword first, arma::uword last, arma::Mat<T>& sum) {
        sum += features.keys(tokens(first, last), all, shifts).t() * values.rows(first, last);
      });
  const arma::Mat<T> of_a = sum_of_blocks<T>(
      problem.n_q(), arma::size(d, c + 1), [&](arma::uword first, arma::uword last, arma::Mat<T>& sum) {
        const arma::Mat<T> phi = features.queries(tokens(first, last), all, shifts);
        const arma::Mat<T> of_products = quotient_cotangent<T>(phi * a, cotangent.rows(first, last));
        sum += phi.t() * of_products;
        adjoint.add_queries(tokens(first, last), all, phi, of_products * a.t());
      });
  arma::Mat<T> of_values(problem.n_k(), c, arma::fill::none);
  sum_of_blocks<T>(problem.n_k(), arma::size(0, 0), [&](arma::uword first, arma::uword last, arma::Mat<T>&) {
    const arma::Mat<T> phi = features.keys(tokens(first, last), all, shifts);
    of_values.rows(first, last) = phi * of_a.head_cols(c);
    adjoint.add_keys(tokens(first, last), all, phi, values.rows(first, last) * of_a.t());
  });
  return from_points(problem, target, adjoint.finish(), std::move(of_values));
}

template arma::fmat quotient_cotangent(const arma::fmat&, const arma::fmat&);
template arma::mat quotient_cotangent(const arma::mat&, const arma::mat&);
template Gradient<float> from_points(const Problem<float>&, Target, FeatureAdjoint<float>::Points, arma::fmat,
                                     arma::fvec);
template Gradient<double> from_points(const Problem<double>&, Target, FeatureAdjoint<double>::Points, arma::mat,
                                      arma::vec);
template Gradient<float> feature_attention_gradient(const FeaturePair<float>&, const Problem<float>&, Target,
                                                    const arma::Mat<float>&);
template Gradient<double> feature_attention_gradient(const FeaturePair<double>&, const Problem<double>&, Target,
                                                     const arma::Mat<double>&);

}  // namespace croquis
