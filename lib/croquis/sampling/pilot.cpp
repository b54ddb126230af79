#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax_scores.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/pilot.hpp>
#include <utility>
#include <vector>

namespace croquis {
namespace {

// Exponentials of a block of scores (queries x keys), relative to the row maxima at that moment.
template <typename T>
struct KeptBlock {
  arma::Mat<T> exponentials;
  arma::Col<T> row_maxima;
};

// The scores of some queries. Their blocks are kept.
template <typename T>
struct KeptScores : SoftmaxScores<T> {
  std::vector<KeptBlock<T>>& blocks;  // of keys, by blocks of queries

  void keep(arma::uword i0, arma::uword j0, arma::Mat<T>& block, const arma::Col<T>& top) const {
    blocks[i0 / kStreamedRows * blocks_of(this->cols(), kStreamedCols) + j0 / kStreamedCols] = {std::move(block), top};
  }
};

}  // namespace

template <typename T>
Pilot<T> pilot_sample(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v, arma::uword d_0,
                      const Key& draw_key, bool with_output) {
  require(d_0 >= 1, "pilot_sample", "d_0 >= 1", {{"d_0", d_0}});
  require(q.n_cols == k.n_cols && k.n_rows == v.n_rows, "pilot_sample", "Q and K of one width, K and V of one length",
          {{"q.cols", q.n_cols}, {"k.cols", k.n_cols}, {"k.rows", k.n_rows}, {"v.rows", v.n_rows}});
  const arma::uword n = k.n_rows, key_blocks = blocks_of(n, kStreamedCols), query_blocks = streamed_row_blocks(d_0);
  Pilot<T> pilot;
  pilot.rows = sample_with_replacement(q.n_rows, d_0, draw_key);
  const arma::Mat<T> queries = q.rows(pilot.rows), nothing(n, 0);
  const arma::Col<T> equal;  // no weights
  std::vector<KeptBlock<T>> blocks(key_blocks * query_blocks);
  arma::Col<T> row_maxima, sums;
  pilot.output = streamed_product<T>(KeptScores<T>{{queries, k, equal}, blocks}, with_output ? v : nothing,
                                     {.row_maxima = &row_maxima, .sums = &sums});
  pilot.weights = row_norms(v);
  parallel_for(key_blocks, [&](std::size_t b) {
    const arma::uword first = b * kStreamedCols, count = std::min(kStreamedCols, n - first);
    arma::Row<T> column_norms(count, arma::fill::zeros);  // squared
    for (arma::uword a = 0; a < query_blocks; ++a) {
      const KeptBlock<T>& block = blocks[a * key_blocks + b];
      const arma::uword top = a * kStreamedRows, last = top + block.row_maxima.n_elem - 1;
      const arma::Col<T> factors = arma::exp(block.row_maxima - row_maxima.rows(top, last)) / sums.rows(top, last);
      column_norms += arma::square(factors).t() * arma::square(block.exponentials);
    }
    T* weight = pilot.weights.memptr() + first;
    for (arma::uword j = 0; j < count; ++j) weight[j] *= std::sqrt(column_norms[j]);
  });
  return pilot;
}

template Pilot<float> pilot_sample(const arma::Mat<float>&, const arma::Mat<float>&, const arma::Mat<float>&,
                                   arma::uword, const Key&, bool);
template Pilot<double> pilot_sample(const arma::Mat<double>&, const arma::Mat<double>&, const arma::Mat<double>&,
                                    arma::uword, const Key&, bool);

}  // namespace croquis
