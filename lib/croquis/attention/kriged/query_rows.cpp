#include <algorithm>
#include <atomic>
#include <croquis/attention/kriged/query_block.hpp>
#include <croquis/attention/kriged/query_rows.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>

namespace croquis {
namespace {

template <typename T>
class RowsPass {
 public:
  RowsPass(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells, const NearField<T>& near,
           const arma::Mat<T>& correction, bool keep)
      : input_(input),
        near_(near),
        left_(1 - cells.mean_share),
        keep_(keep),
        blocks_(blocks_of_queries(tree, near)),
        pass_(input, tree, cells, near, correction) {
    const arma::uword n = input.problem.n_q();
    rows_.output.set_size(n, input.problem.p_v());
    for (arma::Col<T>* column :
         {&rows_.denominators, &rows_.row_maxima, &rows_.corrected, &rows_.uncorrected, &rows_.doubts})
      column->zeros(n);
    if (keep) rows_.cell_weights.set_size(n, cells.size());
  }

  QueryRows<T> run() && {
    std::vector<std::vector<Entry>> kept(blocks_.size());
    std::atomic<arma::uword> fallen{0};
    parallel_for(blocks_.size(), [&](std::size_t b) {
      thread_local BlockRows<T> space;
      pass_.fill(blocks_[b], space);
      fallen += finish(space);
      if (keep_) keep_block(space, kept[b]);
    });
    rows_.fallen = fallen;
    if (keep_) collect(kept);
    return std::move(rows_);
  }

 private:
  struct Entry {
    arma::uword row, col;
    T value;
  };

  // Divides the sums, sees to rows that are out of bounds, and writes all. Returns how many have not their whole
  // correction.
  arma::uword finish(BlockRows<T>& space) {
    const arma::uword rows = space.size(), p_v = input_.problem.p_v();
    pass_.divide(space);
    arma::uword fallen = 0;
    for (arma::uword i = 0; i < rows; ++i) {
      rows_.corrected[space.order[i]] = left_ / space.whole[i];
      rows_.uncorrected[space.order[i]] = 0;
      rows_.row_maxima[space.order[i]] = space.top[i];
      if (space.lost[i]) bring_back(i, space), ++fallen;
      rows_.denominators[space.order[i]] = space.whole[i];
    }
    for (arma::uword c = 0; c < p_v; ++c) {
      T* column = space.sums.colptr(c);
      const T mean = input_.value_mean[c], low = input_.value_ranges.minima[c], high = input_.value_ranges.maxima[c];
#pragma omp simd
      for (arma::uword i = 0; i < rows; ++i) column[i] = clamped(left_ * column[i] + mean, low, high);
      T* output = rows_.output.colptr(c);
      if (near_.in_order()) {  // next to each other
        std::copy_n(column, rows, output + space.order[0]);
      } else {
        for (arma::uword i = 0; i < rows; ++i) output[space.order[i]] = column[i];
      }
    }
    if (near_.screen) set_doubts(space);
    return fallen;
  }

  // Row i, divided, to the point nearest to it on the way from the row without correction that is in the box.
  void bring_back(arma::uword i, BlockRows<T>& space) {
    const arma::uword query = space.order[i];
    const T counted = space.counted[i], whole = space.whole[i];
    const BroughtBack<T> back = pass_.bring_back(i, space);
    const T part = back.reached.part;
    for (arma::uword c = 0; c < back.row.n_elem; ++c) {
      space.sums.at(i, c) = part > 0 ? back.inside[c] + part * (back.row[c] - back.inside[c]) : back.inside[c];
    }
    rows_.corrected[query] = part > 0 ? part / whole : T(0);
    rows_.uncorrected[query] = (1 - part) / counted;
    if (!(part > 0)) space.whole[i] = counted;
  }

  void set_doubts(const BlockRows<T>& space) {
    for (arma::uword i = 0; i < space.size(); ++i) {
      rows_.doubts[space.order[i]] = std::exp(space.margins[i] - space.top[i]) / space.whole[i];
    }
  }

  void keep_block(const BlockRows<T>& space, std::vector<Entry>& kept) {
    for (arma::uword i = 0; i < space.size(); ++i) {
      const arma::uword query = space.order[i];
      rows_.cell_weights.row(query) = space.cells.row(i);
      for (arma::uword t = 0; space.list && t < space.list->size(); ++t)
        kept.push_back({query, (*space.list)[t], space.near.at(i, t)});
      for (std::size_t t = 0; near_.by_query() && t < space.window[i].size(); ++t) {
        kept.push_back({query, space.window[i][t], space.window_weights[i][t]});
      }
    }
  }

  void collect(const std::vector<std::vector<Entry>>& kept) {
    arma::uword count = 0;
    for (const auto& block : kept) count += block.size();
    arma::umat places(2, count);
    arma::Col<T> values(count);
    arma::uword at = 0;
    for (const auto& block : kept) {
      for (const Entry& entry : block) {
        places(0, at) = entry.row;
        places(1, at) = entry.col;
        values(at++) = entry.value;
      }
    }
    rows_.near_weights = arma::SpMat<T>(places, values, input_.problem.n_q(), input_.problem.n_k());
  }

  const KrigedInput<T>& input_;
  const NearField<T>& near_;
  const T left_;  // by the mean of all values, which is that of the centred ones: 0
  const bool keep_;
  const std::vector<QueryBlock> blocks_;
  const BlockPass<T> pass_;
  QueryRows<T> rows_;
};

}  // namespace

template <typename T>
QueryRows<T> query_rows(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells,
                        const NearField<T>& near, const arma::Mat<T>& correction, bool keep) {
  const SerialBlas serial;
  return RowsPass<T>(input, tree, cells, near, correction, keep).run();
}

template QueryRows<float> query_rows(const KrigedInput<float>&, const PointTree&, const KeyCells<float>&,
                                     const NearField<float>&, const arma::Mat<float>&, bool);
template QueryRows<double> query_rows(const KrigedInput<double>&, const PointTree&, const KeyCells<double>&,
                                      const NearField<double>&, const arma::Mat<double>&, bool);

}  // namespace croquis
