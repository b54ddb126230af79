#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/sampling/leaf_means.hpp>
#include <vector>

namespace croquis {

template <typename T>
CentredColumns<T>::CentredColumns(const arma::Mat<T>& rows)
    : columns(rows.n_cols, rows.n_rows, arma::fill::none), mean(column_sums(rows).t() / static_cast<T>(rows.n_rows)) {
  constexpr arma::uword at_once = 64;  // both steps while the points are in cache
  parallel_for(blocks_of(rows.n_rows, at_once), at_once * rows.n_cols, [&](std::size_t b) {
    const arma::uword first = b * at_once, count = std::min(at_once, rows.n_rows - first);
    transpose_block(rows.memptr() + first, rows.n_rows, count, rows.n_cols, columns.colptr(first), rows.n_cols);
    for (arma::uword i = first; i < first + count; ++i) columns.col(i) -= mean;
  });
}

template <typename T>
arma::Mat<T> leaf_means(const CentredColumns<T>& points, const arma::Col<T>& weights, const PointTree& tree) {
  const arma::uword p = points.columns.n_rows;
  require(points.columns.n_cols == tree.order.size() && weights.n_elem == tree.order.size(), "leaf_means",
          "the points of the tree, and a weight for each of them",
          {{"points", points.columns.n_cols}, {"weights", weights.n_elem}, {"points of the tree", tree.order.size()}});
  arma::Mat<T> means(p, tree.leaves());
  parallel_for(tree.leaves(), p * points.columns.n_cols / tree.leaves(), [&](std::size_t c) {
    const std::uint32_t* members = tree.order.data() + tree.first[c];
    std::vector<T> shares(tree.count(c));
    T total = 0;
    for (std::uint32_t i = 0; i < tree.count(c); ++i) total += shares[i] = weights[members[i]];
    for (T& share : shares) share /= total;
    weighted_sum(shares.data(), points.columns.memptr(), p, members, tree.count(c), means.colptr(c));
  });
  return means.t();
}

template <typename T>
arma::Mat<T> leaf_sums(const arma::Mat<T>& x, const PointTree& tree) {
  const arma::uword leaves = tree.leaves(), width = x.n_rows;
  require(x.n_cols == tree.order.size(), "leaf_sums", "a column for each point of the tree",
          {{"columns", x.n_cols}, {"points", tree.order.size()}});
  // The sums of all blocks are no larger than X itself.
  const arma::uword at_once = std::max<arma::uword>(1024, leaves);
  arma::Cube<T> sums(width, leaves, blocks_of<arma::uword>(x.n_cols, at_once), arma::fill::zeros);
  parallel_for(sums.n_slices, at_once * width, [&](std::size_t b) {
    const arma::uword end = std::min<arma::uword>(x.n_cols, (b + 1) * at_once);
    for (arma::uword i = b * at_once; i < end; ++i) {
      const T* column = x.colptr(i);
      T* to = sums.slice_memptr(b) + tree.leaf[i] * width;
      for (arma::uword c = 0; c < width; ++c) to[c] += column[c];
    }
  });
  for (arma::uword b = 1; b < sums.n_slices; ++b) sums.slice(0) += sums.slice(b);
  return sums.slice(0).t();
}

template struct CentredColumns<float>;
template struct CentredColumns<double>;
template arma::Mat<float> leaf_means(const CentredColumns<float>&, const arma::Col<float>&, const PointTree&);
template arma::Mat<double> leaf_means(const CentredColumns<double>&, const arma::Col<double>&, const PointTree&);
template arma::Mat<float> leaf_sums(const arma::Mat<float>&, const PointTree&);
template arma::Mat<double> leaf_sums(const arma::Mat<double>&, const PointTree&);

}  // namespace croquis
