#include <algorithm>
#include <cmath>
#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/prefix_product.hpp>
#include <croquis/attention/relative_blocks.hpp>
#include <croquis/attention/relative_features.hpp>
#include <croquis/attention/relative_scores.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <memory>
#include <utility>

namespace croquis {
namespace {

// Flops a second of the leading terms in relative_flops, fft over direct, where both take the same time: 0.63 to 0.80
// in double and 0.56 to 0.79 in float were measured with OpenBLAS's AVX-512 kernels, more for larger d (d = 16 ... 128,
// p_v = 64, two threads).
template <typename T>
constexpr double kFftRate = sizeof(T) == sizeof(double) ? 0.72 : 0.68;

// The error of a sum by fft that is let through, relative to the sum. The bound is that of the worst case, and errors
// are hundreds of times smaller. In float a smaller tolerance would send the heads of ALiBi with steep slopes, whose
// bounds grow like sqrt(n), to the direct path.
template <typename T>
constexpr double kTolerance = sizeof(T) == sizeof(double) ? 1e-7 : 1e-2;

// The row that is taken from V before a transform and given back after it, so that its errors are relative to how V
// varies. With masked keys nothing may be taken, because medians depend on all keys.
template <typename T>
arma::Row<T> centre_of(const arma::Mat<T>& v, const RelativePosition<T>& position, TokenAlignment tokens,
                       RelativePath path) {
  arma::Row<T> centre(v.n_cols, arma::fill::zeros);
  if (path != RelativePath::fft || has_mask(position, tokens)) return centre;
  parallel_for(v.n_cols, v.n_rows, [&](std::size_t c) { centre(c) = arma::median(v.col(c)); });
  return centre;
}

// [V - centre, 1]
template <typename T>
arma::Mat<T> beside_ones(const arma::Mat<T>& v, const arma::Row<T>& centre) {
  return arma::join_rows(v.each_row() - centre, arma::Mat<T>(v.n_rows, 1, arma::fill::ones));
}

// A~ [V 1] by fft, after which the rows with too large bounds are computed directly, now and in later products.
template <typename T>
arma::Mat<T> checked_by_fft(RelativeScores<T>& scores, const arma::Mat<T>& v, const arma::Row<T>& centre) {
  const SerialBlas serial;
  const arma::uword p_v = v.n_cols;
  arma::Mat<T> columns = beside_ones(v, centre);
  columns.insert_cols(p_v, arma::Col<T>(arma::max(arma::abs(columns.head_cols(p_v)), 1)));  // z
  arma::mat bounds(scores.log_scale().n_elem, 2);
  arma::Mat<T> sums = scores.multiply(columns, &bounds);
  const auto reliable = [&](arma::uword i, arma::uword k) {
    return bounds(i, k) <= kTolerance<T> * std::abs(static_cast<double>(sums(i, p_v + k)));
  };
  arma::uvec unreliable(sums.n_rows);
  arma::uword count = 0;
  for (arma::uword i = 0; i < sums.n_rows; ++i) {
    if (!reliable(i, 0) || !reliable(i, 1)) unreliable(count++) = i;
  }
  sums.shed_col(p_v);
  sums.head_cols(p_v) += sums.col(p_v) * centre;
  scores.compute_directly(unreliable.head(count));
  scores.replace_direct_rows(beside_ones<T>(v, arma::Row<T>(p_v, arma::fill::zeros)), sums);
  return sums;
}

// The keys that blocks of queries attend to on the direct path, each of which computes the features of its own.
double keys_of_query_blocks(TokenAlignment tokens, bool causal) {
  double keys = 0;
  for (arma::uword first = 0; first < tokens.n_q; first += RelativeBlocks::kQueries) {
    const arma::uword last = std::min(first + RelativeBlocks::kQueries, tokens.n_q) - 1;
    keys += static_cast<double>(causal ? tokens.causal_keys(last) : tokens.n_k);
  }
  return keys;
}

}  // namespace

double relative_flops(RelativePath path, TokenAlignment tokens, double p, double p_v, double d,
                      const FeatureOptions& options, arma::uword height, bool causal) {
  const auto n_q = static_cast<double>(tokens.n_q), n_k = static_cast<double>(tokens.n_k), n = n_q + n_k;
  if (path == RelativePath::sums) return feature_attention_flops(n, p, p_v, d, options);
  const double directions = d / static_cast<double>(functions_of(options.map));
  const auto features = [&](double computed) {  // of n tokens first, for their shifts
    return projection_flops(options.projection, n + computed, directions, p) + n * d;
  };
  if (path == RelativePath::prefix) return features(n) + prefix_product_flops(tokens, d, p_v + 1);
  if (path == RelativePath::fft) {
    const PhaseLayout layout{RelativeGrid(tokens.n(), height)};
    return features(n) + d * (p_v + 2) * layout.flops();  // V, 1 and z of the bounds
  }
  const double pairs = n_q * (causal ? n_k - (n_q - 1) / 2 : n_k);
  return features(n_q + keys_of_query_blocks(tokens, causal)) + 2 * pairs * (d + p_v + 1);
}

template <typename T>
double flops_without_bias(const Problem<T>& problem, double d, const FeatureOptions& options) {
  return relative_flops(problem.is_causal() ? RelativePath::prefix : RelativePath::sums, problem.tokens(),
                        static_cast<double>(problem.p()), static_cast<double>(problem.p_v()), d, options);
}

template <typename T>
RelativePath relative_path(const RelativePosition<T>& position, TokenAlignment tokens, arma::uword d, arma::uword p_v,
                           ToeplitzPath wanted) {
  if (position.bias.is_empty()) return position.causal ? RelativePath::prefix : RelativePath::sums;
  if (wanted != ToeplitzPath::automatic) {
    return wanted == ToeplitzPath::fft ? RelativePath::fft : RelativePath::direct;
  }
  const auto flops = [&](RelativePath path) {
    // No p: what features cost, which is more on the direct path, is in the rate, which was measured with p = 64, when
    // the features of queries were computed as often as those of keys. Not causal: blocks on the diagonal are computed
    // whole, and the rates were measured without a mask.
    return relative_flops(path, tokens, 0, static_cast<double>(p_v), static_cast<double>(d), {}, position.height);
  };
  return flops(RelativePath::fft) < kFftRate<T> * flops(RelativePath::direct) ? RelativePath::fft
                                                                              : RelativePath::direct;
}

template <typename T>
Approximation<T> relative_feature_attention(FeaturePair<T> features, const Problem<T>& problem, Target target,
                                            ToeplitzPath wanted, const std::string& name) {
  require_points_of(problem, features, "relative_feature_attention");
  const RelativePosition<T> position = position_of(problem, target);
  const RelativePath path = relative_path(position, problem.tokens(), features.count(), problem.p_v(), wanted);
  if (path == RelativePath::sums) return feature_attention(features, problem, target, name);

  const auto scores = std::make_shared<RelativeScores<T>>(std::move(features), position, problem.tokens(), path);
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k(), p_v = problem.p_v();
  const arma::Row<T> centre = centre_of(problem.V(), position, problem.tokens(), path);
  const arma::Mat<T> sums = path == RelativePath::fft ? checked_by_fft(*scores, problem.V(), centre)
                                                      : scores->multiply(beside_ones(problem.V(), centre));
  const arma::Col<T> row_sums = sums.col(p_v);
  Approximation<T> approximation;
  approximation.denominators = checked_denominators<T>(row_sums, scores->log_scale(), name);
  approximation.output = sums.head_cols(p_v);
  approximation.output.each_col() /= row_sums;
  approximation.diagnostics.direct_rows = scores->direct_rows();
  approximation.adjoint = adjoint_of<T>(problem, [=](const arma::Mat<T>& cotangent) {
    const arma::Mat<T> values = beside_ones(problem.V(), centre);  // the output does not depend on it: rows sum to 1
    const arma::Mat<T> products = scores->multiply(values);
    auto of = scores->adjoint(values, quotient_cotangent(products, cotangent));
    return from_points<T>(problem, target, std::move(of.points), of.x.head_cols(p_v), std::move(of.bias));
  });
  const LinearOperator<T> products{n_q, n_k, [scores](const arma::Mat<T>& x) { return scores->multiply(x); },
                                   [scores](const arma::Mat<T>& x) { return scores->multiply_transposed(x); }};
  approximation.scores = divided_rows(products, row_sums);
  return approximation;
}

template double flops_without_bias(const Problem<float>&, double, const FeatureOptions&);
template double flops_without_bias(const Problem<double>&, double, const FeatureOptions&);
template RelativePath relative_path(const RelativePosition<float>&, TokenAlignment, arma::uword, arma::uword,
                                    ToeplitzPath);
template RelativePath relative_path(const RelativePosition<double>&, TokenAlignment, arma::uword, arma::uword,
                                    ToeplitzPath);
template Approximation<float> relative_feature_attention(FeaturePair<float>, const Problem<float>&, Target,
                                                         ToeplitzPath, const std::string&);
template Approximation<double> relative_feature_attention(FeaturePair<double>, const Problem<double>&, Target,
                                                          ToeplitzPath, const std::string&);

}  // namespace croquis
