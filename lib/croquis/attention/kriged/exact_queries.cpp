#include <croquis/attention/kriged/exact_queries.hpp>
#include <croquis/attention/kriged/largest.hpp>
#include <croquis/core/threads.hpp>
#include <limits>

namespace croquis {
namespace {

// |q_i - its leaf's mean|^2 of all queries, and how much of that may be rounding.
template <typename T>
struct LeafDistances {
  arma::Col<T> squares;
  T rounding = 0;
};

template <typename T>
LeafDistances<T> leaf_distances(const KrigedInput<T>& input, const PointTree& tree, const arma::Mat<T>& means) {
  LeafDistances<T> distances{arma::Col<T>(input.problem.n_q(), arma::fill::none)};
  arma::Col<T> lengths(input.problem.n_q(), arma::fill::none);
  const arma::Mat<T> columns = means.t();
  parallel_for(lengths.n_elem, input.problem.p(), [&](std::size_t i) {
    const T* q = input.queries.columns.colptr(i);
    const T* m = columns.colptr(tree.leaf[i]);
    T sum = 0, own = 0;
#pragma omp simd reduction(+ : sum, own)
    for (arma::uword c = 0; c < columns.n_rows; ++c) {
      sum += (q[c] - m[c]) * (q[c] - m[c]);
      own += q[c] * q[c];
    }
    distances.squares[i] = sum;
    lengths[i] = own;
  });
  // |q|^2 is at most twice the sum of the squares of its two parts.
  const T largest = 2 * (lengths.max() + arma::dot(input.queries.mean, input.queries.mean));
  distances.rounding = std::numeric_limits<T>::epsilon() * std::numeric_limits<T>::epsilon() * largest;
  return distances;
}

}  // namespace

template <typename T>
void choose_exact_queries(KrigedModel<T>& model, const arma::Mat<T>& means, arma::uword count) {
  const LeafDistances<T> distances = leaf_distances(*model.input, model.query_tree, means);
  model.farthest = places_above(distances.squares, distances.rounding, count);
  for (arma::uword i = 0; i < distances.squares.n_elem; ++i) {
    if (!(distances.squares[i] > distances.rounding)) model.still.push_back(i);
  }
}

template void choose_exact_queries(KrigedModel<float>&, const arma::Mat<float>&, arma::uword);
template void choose_exact_queries(KrigedModel<double>&, const arma::Mat<double>&, arma::uword);

}  // namespace croquis
