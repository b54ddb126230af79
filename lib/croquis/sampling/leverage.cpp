#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/leverage.hpp>
#include <limits>
#include <stdexcept>
#include <vector>

namespace croquis {
namespace {

template <typename T>
constexpr T kEpsilon = std::numeric_limits<T>::epsilon();

// What gives estimates of the ridge leverage scores of `points`, from a weighted sample: residual / ridge.
template <typename T>
struct Level {
  arma::Col<T> residual;  // M_ii - M_iS (M_SS + lambda W^-2)^-1 M_Si
  T ridge = 0;
};

template <typename T>
Level<T> level_scores(const KernelMatrix<T>& matrix, const arma::uvec& points, const arma::uvec& sample,
                      const arma::Col<T>& weights, arma::uword rank) {
  const SerialBlas serial;
  arma::Mat<T> core = arma::symmatu(matrix.block(sample, sample));
  core.diag() = matrix.diagonal(sample);
  arma::Mat<T> weighted = core;
  weighted.each_col() %= weights;
  weighted.each_row() %= weights.t();
  arma::Col<T> eigenvalues;
  if (!arma::eig_sym(eigenvalues, weighted)) {
    throw std::runtime_error("recursive_leverage_sample: the eigenvalue solver failed");
  }
  // The tail of the spectrum divided by the rank, as in ridge_for().
  const arma::uword size = eigenvalues.n_elem, kept = std::min(rank, size);
  const T largest = std::max(eigenvalues.max(), T(0));
  T tail = 0;
  for (arma::uword i = 0; i < size - kept; ++i) tail += std::max(eigenvalues(i), T(0));
  const T floor = static_cast<T>(size) * kEpsilon<T> * matrix.entry_error() * std::max(largest, kEpsilon<T>);
  Level<T> level;
  level.ridge = std::max(tail / static_cast<T>(rank), floor);

  core.diag() += level.ridge / arma::square(weights);
  arma::Mat<T> factor;
  if (!arma::chol(factor, core,
                  "lower")) {  // rounding on a nearly singular core: a larger ridge under-estimates no score
    core.diag() += floor;
    if (!arma::chol(factor, core, "lower")) throw std::runtime_error("recursive_leverage_sample: Cholesky failed");
  }
  const arma::Mat<T> solved = arma::solve(arma::trimatl(factor), matrix.block(sample, points));
  level.residual = matrix.diagonal(points) - arma::sum(arma::square(solved), 0).t();
  level.residual.clamp(0, std::numeric_limits<T>::max());
  return level;
}

}  // namespace

template <typename T>
RidgeLeverage<T>::RidgeLeverage(const KernelMatrix<T>& matrix) {
  const SerialBlas serial;
  require(matrix.n >= 1 && matrix.n <= kLargestN, "RidgeLeverage",
          "1 <= n <= 8192, it takes a dense eigenvalue problem", {{"n", matrix.n}});
  arma::Mat<T> vectors;
  if (!arma::eig_sym(eigenvalues_, vectors, matrix.dense())) {
    throw std::runtime_error("RidgeLeverage: the eigenvalue solver failed");
  }
  eigenvalues_ = arma::reverse(eigenvalues_);
  eigenvalues_.clamp(0, std::numeric_limits<T>::max());
  squared_vectors_ = arma::square(arma::fliplr(vectors));
}

template <typename T>
arma::Col<T> RidgeLeverage<T>::scores(T lambda) const {
  const SerialBlas serial;
  require(lambda > 0, "RidgeLeverage::scores", "lambda > 0", {{"lambda", lambda}});
  arma::Col<T> scores = squared_vectors_ * (eigenvalues_ / (eigenvalues_ + lambda));
  scores.clamp(0, 1);
  return scores;
}

template <typename T>
T RidgeLeverage<T>::statistical_dimension(T lambda) const {
  require(lambda > 0, "RidgeLeverage::statistical_dimension", "lambda > 0", {{"lambda", lambda}});
  return arma::accu(eigenvalues_ / (eigenvalues_ + lambda));
}

template <typename T>
T RidgeLeverage<T>::ridge_for(arma::uword k) const {
  const arma::uword n = eigenvalues_.n_elem;
  require(k >= 1 && k <= n, "RidgeLeverage::ridge_for", "1 <= k <= n", {{"k", k}, {"n", n}});
  const T tail = k < n ? arma::accu(eigenvalues_.tail(n - k)) / static_cast<T>(k) : T(0);
  return std::max(tail, kEpsilon<T> * std::max(eigenvalues_(0), std::numeric_limits<T>::min()));
}

arma::uword leverage_rank(arma::uword d) {
  const double landmarks = static_cast<double>(d), growth = std::max(1.0, std::log(std::max(1.0, landmarks)));
  return std::max<arma::uword>(1, static_cast<arma::uword>(landmarks / (4 * growth)));
}

template <typename T>
arma::uvec recursive_leverage_sample(const KernelMatrix<T>& matrix, arma::uword d, const Key& draw_key) {
  require(d >= 1 && d <= matrix.n, "recursive_leverage_sample", "1 <= d <= n", {{"d", d}, {"n", matrix.n}});
  const arma::uvec order = sample_without_replacement(matrix.n, matrix.n, draw_key.child("order"));
  std::vector<arma::uword> sizes = {matrix.n};
  while (sizes.back() > 2 * d) sizes.push_back((sizes.back() + 1) / 2);
  const double oversampling = std::max(1.0, std::log(static_cast<double>(d)));
  const arma::uword rank = leverage_rank(d);

  // At the lowest level d points, or all where there are no more, without weights.
  arma::uvec sample = order.head(std::min(sizes.back(), d));
  arma::Col<T> weights(sample.n_elem, arma::fill::ones);
  for (std::size_t l = sizes.size(); l-- > 0;) {
    const arma::uvec points = order.head(sizes[l]);
    const Level<T> level = level_scores(matrix, points, sample, weights, rank);
    if (l == 0) {
      return points(sample_weighted_without_replacement(arma::Col<T>(arma::clamp(level.residual / level.ridge, 0, 1)),
                                                        d, draw_key.child("final")));
    }
    const Key draws = draw_key.child("level").child(l);
    std::vector<arma::uword> drawn;
    std::vector<T> drawn_weights;
    for (arma::uword i = 0; i < points.n_elem; ++i) {
      const T probability = std::min(T(1), static_cast<T>(oversampling) * level.residual(i) / level.ridge);
      if (uniform_at(draws, i) > static_cast<double>(probability)) continue;  // it is in (0, 1]
      drawn.push_back(points(i));
      drawn_weights.push_back(1 / std::sqrt(probability));
    }
    if (drawn.empty()) continue;  // the sample already explains every point; use it for the next level
    sample = arma::uvec(drawn);
    weights = arma::Col<T>(drawn_weights);
  }
  return {};  // not reached: level 0 returns
}

template class RidgeLeverage<float>;
template class RidgeLeverage<double>;
template arma::uvec recursive_leverage_sample(const KernelMatrix<float>&, arma::uword, const Key&);
template arma::uvec recursive_leverage_sample(const KernelMatrix<double>&, arma::uword, const Key&);

}  // namespace croquis
