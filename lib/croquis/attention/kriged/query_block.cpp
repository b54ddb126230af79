#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/query_block.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/row_math.hpp>
#include <limits>
#include <numeric>

namespace croquis {
namespace {

constexpr arma::uword kQueriesOfBlock = 64;

// A correction that takes more than nine tenths of base_i(1) away is given up.
template <typename T>
constexpr T kLeastWhole = T(0.1);

template <typename T>
void add_multiple(T factor, const T* column, arma::Col<T>& sum) {
  for (arma::uword i = 0; i < sum.n_elem; ++i) sum[i] += factor * column[i];
}

}  // namespace

template <typename T>
std::vector<QueryBlock> blocks_of_queries(const PointTree& tree, const NearField<T>& near) {
  const bool by_leaf = !near.in_order();
  std::vector<QueryBlock> blocks;
  const auto add = [&](arma::uword leaf, arma::uword begin, arma::uword end) {
    for (; begin < end; begin += kQueriesOfBlock)
      blocks.push_back({leaf, begin, std::min(end, begin + kQueriesOfBlock)});
  };
  if (!by_leaf) add(0, 0, tree.order.size());
  for (arma::uword g = 0; by_leaf && g < tree.leaves(); ++g) add(g, tree.first[g], tree.first[g + 1]);
  return blocks;
}

template <typename T>
BlockPass<T>::BlockPass(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells,
                        const NearField<T>& near, const arma::Mat<T>& correction)
    : input_(input),
      cells_(cells),
      near_(near),
      order_(tree.order),
      corrected_(!correction.is_empty()),
      sums_(corrected_ ? arma::Mat<T>(cells.sums + correction) : cells.sums),
      box_{input.lowest, input.highest} {
  if (near.in_order()) std::iota(order_.begin(), order_.end(), 0U);
  if (near.by_query() && !near.lists.empty()) {
    listed_.resize(input.problem.n_k(), 0);
    for (const std::uint32_t key : near.lists.front()) listed_[key] = 1;
  }
}

template <typename T>
void BlockPass<T>::fill(const QueryBlock& block, BlockRows<T>& rows) const {
  const arma::uword count = block.end - block.begin, p = input_.problem.p(), s = cells_.size(),
                    width = input_.value_columns.n_rows;
  rows.order = order_.data() + block.begin;
  rows.list = near_.lists.empty() ? nullptr : &near_.lists[block.leaf];
  take_queries(block, rows);
  rows.cells.set_size(count, s);
  narrow_gemm(CblasTrans, count, s, p, T(1), rows.queries.memptr(), cells_.keys.memptr(), s, T(0), rows.cells.memptr(),
              count);
  rows.top.set_size(count);
  rows.top.fill(-std::numeric_limits<T>::infinity());
  raise_to_row_maxima(rows.cells.memptr(), count, s, rows.top.memptr());
  if (rows.list) near_scores(rows);
  if (near_.by_query()) {
    own_scores(rows);
    scores_of_what_is_left(rows);
  }

  rows.total.zeros(count);
  exp_shifted_rows(rows.cells.memptr(), count, s, rows.top.memptr(), rows.total.memptr());
  rows.sums.set_size(count, width);
  narrow_gemm(CblasNoTrans, count, width, s, T(1), rows.cells.memptr(), sums_.memptr(), s, T(0), rows.sums.memptr(),
              count);
  if (rows.list) add_near(rows);
  if (near_.by_query()) add_window(rows);
}

template <typename T>
void BlockPass<T>::take_queries(const QueryBlock& block, BlockRows<T>& rows) const {
  const arma::uword count = block.end - block.begin, p = input_.problem.p();
  rows.queries.set_size(count, p);
  if (near_.in_order()) {  // next to each other
    for (arma::uword c = 0; c < p; ++c) {
      const T* from = input_.problem.Q().colptr(c) + block.begin;
      T* to = rows.queries.colptr(c);
      for (arma::uword i = 0; i < count; ++i) to[i] = input_.scale * from[i];
    }
    if (near_.by_query()) rows.columns = rows.queries.t();
    return;
  }
  for (arma::uword c = 0; c < p; ++c) {
    const T* from = input_.problem.Q().colptr(c);
    T* to = rows.queries.colptr(c);
    for (arma::uword i = 0; i < count; ++i) to[i] = input_.scale * from[rows.order[i]];
  }
  rows.columns = rows.queries.t();
}

template <typename T>
void BlockPass<T>::divide(BlockRows<T>& rows) const {
  const arma::uword p_v = input_.problem.p_v();
  const arma::uword size = rows.size();
  rows.whole = rows.sums.col(p_v);
  rows.lost.assign(size, 0);
  rows.outside.zeros(size);
  T* outside = rows.outside.memptr();
  const arma::Col<T> inverse = 1 / rows.whole;
  for (arma::uword c = 0; c < p_v; ++c) {
    T* column = rows.sums.colptr(c);
    const T* factor = inverse.memptr();
    const T low = box_.lowest[c] - box_.slack(c), high = box_.highest[c] + box_.slack(c);
#pragma omp simd  // which std::max prevents, as it returns a reference
    for (arma::uword i = 0; i < size; ++i) {
      const T x = column[i] * factor[i], above = x - high, below = low - x, most = above > below ? above : below;
      column[i] = x;
      outside[i] = most > outside[i] ? most : outside[i];
    }
  }
  if (!corrected_) return;
  count(rows);
  for (arma::uword i = 0; i < size; ++i) {
    rows.lost[i] = static_cast<char>(outside[i] > 0 || !(rows.whole[i] > kLeastWhole<T> * rows.counted[i]));
  }
}

template <typename T>
BroughtBack<T> BlockPass<T>::bring_back(arma::uword i, const BlockRows<T>& rows) const {
  const arma::uword p_v = input_.problem.p_v();
  const T counted = rows.counted[i];
  BroughtBack<T> back{base(i, rows).head(p_v) / counted, rows.sums.row(i).head(p_v), {T(0), 0, false}};
  if (rows.whole[i] > kLeastWhole<T> * counted) back.reached = box_.part_inside(back.inside, back.row);
  return back;
}

template <typename T>
void BlockPass<T>::near_scores(BlockRows<T>& rows) const {
  const std::vector<std::uint32_t>& list = *rows.list;
  const arma::uword count = rows.size(), p = rows.queries.n_cols, k = list.size();
  rows.near_keys.set_size(p, k);
  rows.near_values.set_size(input_.value_columns.n_rows, k);
  for (arma::uword t = 0; t < k; ++t) {
    std::copy_n(input_.keys.columns.colptr(list[t]), p, rows.near_keys.colptr(t));
    std::copy_n(input_.value_columns.colptr(list[t]), rows.near_values.n_rows, rows.near_values.colptr(t));
  }
  rows.near.set_size(count, k);
  narrow_gemm(CblasNoTrans, count, k, p, T(1), rows.queries.memptr(), rows.near_keys.memptr(), p, T(0),
              rows.near.memptr(), count);
  raise_to_row_maxima(rows.near.memptr(), count, k, rows.top.memptr());
}

template <typename T>
void BlockPass<T>::add_near(BlockRows<T>& rows) const {
  const std::vector<std::uint32_t>& list = *rows.list;
  const arma::uword count = rows.size(), k = list.size();
  exp_shifted_rows(rows.near.memptr(), count, k, rows.top.memptr(), rows.total.memptr());
  for (arma::uword t = 0; t < k; ++t) rows.near.col(t) -= rows.cells.col(cells_.cell[list[t]]);
  narrow_gemm(CblasTrans, count, rows.sums.n_cols, k, T(1), rows.near.memptr(), rows.near_values.memptr(),
              rows.near_values.n_rows, T(1), rows.sums.memptr(), count);
}

template <typename T>
void BlockPass<T>::own_scores(BlockRows<T>& rows) const {
  const arma::uword count = rows.size();
  if (near_.screen) rows.margins.set_size(count);
  rows.window.resize(std::max<std::size_t>(rows.window.size(), count));
  rows.window_weights.resize(rows.window.size());
  for (arma::uword i = 0; i < count; ++i) {
    std::vector<std::uint32_t>& keys = rows.window[i];
    keys_at(input_.problem.tokens(), rows.order[i], near_.offsets, keys);
    if (!listed_.empty()) std::erase_if(keys, [&](std::uint32_t key) { return listed_[key] != 0; });
    std::vector<T>& scores = rows.window_weights[i];
    scores.resize(keys.size());
    dots(rows.columns.colptr(i), input_.keys.columns.memptr(), input_.keys.columns.n_rows, keys.data(), keys.size(),
         scores.data());
    if (near_.screen) rows.margins[i] = near_.screen->choose(rows.columns.colptr(i), rows.list, keys, scores);
    for (const T score : scores) rows.top[i] = std::max(rows.top[i], score);
  }
}

template <typename T>
void BlockPass<T>::scores_of_what_is_left(BlockRows<T>& rows) const {
  const T* counts = cells_.sums.colptr(input_.problem.p_v());
  for (arma::uword i = 0; i < rows.size(); ++i) {
    rows.taken.reset(cells_.size());
    const auto take = [&](std::uint32_t key, T score) {
      const std::uint32_t cell = cells_.cell[key];
      rows.taken.add(cell, score - rows.cells.at(i, cell));
    };
    for (arma::uword t = 0; rows.list && t < rows.list->size(); ++t) take((*rows.list)[t], rows.near.at(i, t));
    for (std::size_t t = 0; t < rows.window[i].size(); ++t) take(rows.window[i][t], rows.window_weights[i][t]);
    for (arma::uword c = 0; c < cells_.size(); ++c) {
      rows.cells.at(i, c) += rows.taken.shift(c, counts[c]);
      rows.top[i] = std::max(rows.top[i], rows.cells.at(i, c));
    }
  }
}

template <typename T>
void BlockPass<T>::add_window(BlockRows<T>& rows) const {
  arma::Col<T> sum(input_.value_columns.n_rows);
  for (arma::uword i = 0; i < rows.size(); ++i) {
    const std::vector<std::uint32_t>& keys = rows.window[i];
    std::vector<T>& weights = rows.window_weights[i];
    for (std::size_t t = 0; t < keys.size(); ++t) {
      weights[t] = std::exp(weights[t] - rows.top[i]) - rows.cells.at(i, cells_.cell[keys[t]]);
    }
    weighted_sum(weights.data(), input_.value_columns.memptr(), sum.n_elem, keys.data(), keys.size(), sum.memptr());
    rows.sums.row(i) += sum.t();
  }
}

// base_i([V, 1]) of row i of the block.
template <typename T>
arma::Row<T> BlockPass<T>::base(arma::uword i, const BlockRows<T>& rows) const {
  arma::Row<T> sum = rows.cells.row(i) * cells_.sums;
  if (rows.list) sum += rows.near.row(i) * rows.near_values.t();
  if (near_.by_query()) {
    for (std::size_t t = 0; t < rows.window[i].size(); ++t) {
      sum += rows.window_weights[i][t] * input_.value_columns.col(rows.window[i][t]).t();
    }
  }
  return sum;
}

// base_i(1) of all rows of the block.
template <typename T>
void BlockPass<T>::count(BlockRows<T>& rows) const {
  rows.counted.zeros(rows.size());
  const T* counts = cells_.sums.colptr(input_.problem.p_v());
  for (arma::uword c = 0; c < rows.cells.n_cols; ++c) add_multiple(counts[c], rows.cells.colptr(c), rows.counted);
  for (arma::uword t = 0; rows.list && t < rows.list->size(); ++t) {
    add_multiple(T(1), rows.near.colptr(t), rows.counted);
  }
  for (arma::uword i = 0; near_.by_query() && i < rows.size(); ++i) {
    for (const T weight : rows.window_weights[i]) rows.counted[i] += weight;
  }
}

template std::vector<QueryBlock> blocks_of_queries(const PointTree&, const NearField<float>&);
template std::vector<QueryBlock> blocks_of_queries(const PointTree&, const NearField<double>&);
template class BlockPass<float>;
template class BlockPass<double>;

}  // namespace croquis
