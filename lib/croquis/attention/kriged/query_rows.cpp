#include <algorithm>
#include <atomic>
#include <cmath>
#include <croquis/attention/kriged/query_rows.hpp>
#include <croquis/attention/kriged/value_box.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/chosen_columns.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/row_math.hpp>
#include <limits>
#include <optional>

namespace croquis {
namespace {

constexpr arma::uword kQueriesAtOnce = 64;

struct QueryBlock {
  arma::uword leaf, begin, end;  // places of the tree's order
};

// Blocks of queries; of one leaf each where leaves have lists of their own.
std::vector<QueryBlock> blocks_of_queries(const PointTree& tree, bool by_leaf) {
  std::vector<QueryBlock> blocks;
  const auto add = [&](arma::uword leaf, arma::uword begin, arma::uword end) {
    for (; begin < end; begin += kQueriesAtOnce) blocks.push_back({leaf, begin, std::min(end, begin + kQueriesAtOnce)});
  };
  if (!by_leaf) add(0, 0, tree.order.size());
  for (arma::uword g = 0; by_leaf && g < tree.leaves(); ++g) add(g, tree.first[g], tree.first[g + 1]);
  return blocks;
}

// What a thread keeps from block to block.
template <typename T>
struct Workspace {
  arma::Mat<T> columns, queries, cells, factors, near, near_keys, near_values, sums;
  arma::Col<T> top, total, whole, counted;
  std::vector<char> lost;           // rows that are out of bounds
  std::vector<std::uint32_t> keys;  // of the window of a query
  std::vector<T> bounds;
  std::vector<std::vector<std::uint32_t>> window;  // of every query of the block
  std::vector<std::vector<T>> window_weights;
};

template <typename T>
class Pass {
 public:
  Pass(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells, const NearField& near,
       const arma::Mat<T>& correction, bool keep)
      : input_(input),
        tree_(tree),
        cells_(cells),
        near_(near),
        corrected_(!correction.is_empty()),
        keep_(keep),
        sums_(corrected_ ? arma::Mat<T>(cells.sums + correction) : cells.sums),
        box_{input.lowest, input.highest} {
    const arma::uword n = input.problem.n_q();
    rows_.output.set_size(n, input.problem.p_v());
    const arma::Col<T> counts = cells.sums.tail_cols(1);
    if (near.by_query()) opened_.emplace(input, cells);
    if (near.by_query() && !near.lists.empty()) {
      listed_.resize(input.problem.n_k(), 0);
      for (const std::uint32_t key : near.lists.front()) listed_[key] = 1;
    }
    sizes_ = arma::sqrt(counts % cells.squares) % arma::conv_to<arma::Col<T>>::from(counts > T(1.5));
    for (arma::Col<T>* column :
         {&rows_.denominators, &rows_.row_maxima, &rows_.corrected, &rows_.uncorrected, &rows_.doubts})
      column->zeros(n);
    if (keep) rows_.cell_weights.set_size(n, cells.size());
  }

  QueryRows<T> run() && {
    const std::vector<QueryBlock> blocks = blocks_of_queries(tree_, !near_.lists.empty());
    std::vector<std::vector<Entry>> kept(blocks.size());
    std::atomic<arma::uword> fallen{0};
    parallel_for(blocks.size(), [&](std::size_t b) {
      thread_local Workspace<T> space;
      fallen += row_block(blocks[b], space, kept[b]);
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

  arma::uword row_block(const QueryBlock& block, Workspace<T>& space, std::vector<Entry>& kept) {
    const arma::uword rows = block.end - block.begin, p = input_.problem.p(), s = cells_.size(),
                      width = input_.values.n_cols;
    const std::uint32_t* order = tree_.order.data() + block.begin;
    space.columns.set_size(p, rows);
    for (arma::uword i = 0; i < rows; ++i) {
      const T* q = input_.queries.columns.colptr(order[i]);
      for (arma::uword c = 0; c < p; ++c) space.columns.at(c, i) = input_.scale * (q[c] + input_.queries.mean[c]);
    }
    space.queries = space.columns.t();
    space.cells.set_size(rows, s);
    narrow_gemm(CblasTrans, rows, s, p, T(1), space.queries.memptr(), cells_.keys.memptr(), s, T(0),
                space.cells.memptr(), rows);
    space.top.set_size(rows);
    space.top.fill(-std::numeric_limits<T>::infinity());
    raise_to_row_maxima(space.cells.memptr(), rows, s, space.top.memptr());
    const std::vector<std::uint32_t>* list = near_.lists.empty() ? nullptr : &near_.lists[block.leaf];
    if (list) near_scores(*list, space);
    if (near_.by_query()) own_scores(order, rows, space);

    space.total.zeros(rows);
    exp_shifted_rows(space.cells.memptr(), rows, s, space.top.memptr(), space.total.memptr());
    space.sums.set_size(rows, width);
    narrow_gemm(CblasNoTrans, rows, width, s, T(1), space.cells.memptr(), sums_.memptr(), s, T(0), space.sums.memptr(),
                rows);
    if (list) add_near(*list, space);
    if (near_.by_query()) add_window(rows, space);
    const arma::uword fallen = finish(order, list, space);
    if (keep_) keep_block(order, rows, list, space, kept);
    return fallen;
  }

  void near_scores(const std::vector<std::uint32_t>& list, Workspace<T>& space) const {
    const arma::uword rows = space.queries.n_rows, p = space.queries.n_cols, k = list.size();
    space.near_keys.set_size(p, k);
    space.near_values.set_size(input_.values.n_cols, k);
    for (arma::uword t = 0; t < k; ++t) {
      std::copy_n(input_.keys.columns.colptr(list[t]), p, space.near_keys.colptr(t));
      std::copy_n(input_.value_columns.colptr(list[t]), space.near_values.n_rows, space.near_values.colptr(t));
    }
    space.near.set_size(rows, k);
    narrow_gemm(CblasNoTrans, rows, k, p, T(1), space.queries.memptr(), space.near_keys.memptr(), p, T(0),
                space.near.memptr(), rows);
    raise_to_row_maxima(space.near.memptr(), rows, k, space.top.memptr());
  }

  void add_near(const std::vector<std::uint32_t>& list, Workspace<T>& space) const {
    const arma::uword rows = space.queries.n_rows, k = list.size();
    exp_shifted_rows(space.near.memptr(), rows, k, space.top.memptr(), space.total.memptr());
    for (arma::uword t = 0; t < k; ++t) space.near.col(t) -= space.cells.col(cells_.cell[list[t]]);
    narrow_gemm(CblasTrans, rows, space.sums.n_cols, k, T(1), space.near.memptr(), space.near_values.memptr(),
                space.near_values.n_rows, T(1), space.sums.memptr(), rows);
  }

  void own_scores(const std::uint32_t* order, arma::uword rows, Workspace<T>& space) const {
    const TokenAlignment tokens = input_.problem.tokens();
    const auto first = static_cast<std::int64_t>(tokens.key(0)), end = static_cast<std::int64_t>(tokens.n());
    space.factors.set_size(rows, cells_.size());
    space.window.resize(std::max<std::size_t>(space.window.size(), rows));
    space.window_weights.resize(space.window.size());
    for (arma::uword i = 0; i < rows; ++i) {
      std::vector<std::uint32_t>& keys = space.window[i];
      keys.clear();
      const T length = arma::norm(space.columns.col(i)) / input_.scale;
      opened_->bounds_of(space.cells.memptr() + i, rows, length, space.bounds);
      for (arma::uword c = 0; c < cells_.size(); ++c) {
        space.factors.at(i, c) = sizes_[c] > 0 ? sizes_[c] * std::exp(space.bounds[c] - space.cells.at(i, c)) : T(0);
      }
      if (near_.opened > 0) {
        opened_->open(space.bounds, near_.opened, keys);
        for (const std::uint32_t key : keys) space.factors.at(i, cells_.cell[key]) = 0;
        std::erase_if(keys, [&](std::uint32_t key) { return is_listed(key); });
      }
      const auto at = static_cast<std::int64_t>(tokens.query(order[i]));
      for (const std::int64_t offset : near_.offsets) {
        if (at + offset < first || at + offset >= end) continue;
        const auto key = static_cast<std::uint32_t>(at + offset - first);
        const bool taken = space.bounds[cells_.cell[key]] == std::numeric_limits<T>::infinity();
        if (!taken && !is_listed(key)) keys.push_back(key);
      }
      std::vector<T>& scores = space.window_weights[i];
      scores.resize(keys.size());
      dots(space.columns.colptr(i), input_.keys.columns.memptr(), input_.keys.columns.n_rows, keys.data(), keys.size(),
           scores.data());
      for (const T score : scores) space.top[i] = std::max(space.top[i], score);
    }
  }

  void add_window(arma::uword rows, Workspace<T>& space) const {
    arma::Col<T> sum(input_.values.n_cols);
    for (arma::uword i = 0; i < rows; ++i) {
      const std::vector<std::uint32_t>& keys = space.window[i];
      std::vector<T>& weights = space.window_weights[i];
      for (std::size_t t = 0; t < keys.size(); ++t) {
        weights[t] = std::exp(weights[t] - space.top[i]) - space.cells.at(i, cells_.cell[keys[t]]);
      }
      weighted_sum(weights.data(), input_.value_columns.memptr(), sum.n_elem, keys.data(), keys.size(), sum.memptr());
      space.sums.row(i) += sum.t();
    }
  }

  // Where queries have keys of their own, the tree has one leaf, and one list at most.
  bool is_listed(std::uint32_t key) const { return !listed_.empty() && listed_[key] != 0; }

  // base_i([V, 1]) of row i of the block.
  arma::Row<T> base(arma::uword i, const std::vector<std::uint32_t>* list, const Workspace<T>& space) const {
    arma::Row<T> sum = space.cells.row(i) * cells_.sums;
    if (list) sum += space.near.row(i) * space.near_values.t();
    if (near_.by_query()) {
      for (std::size_t t = 0; t < space.window[i].size(); ++t) {
        sum += space.window_weights[i][t] * input_.value_columns.col(space.window[i][t]).t();
      }
    }
    return sum;
  }

  // base_i(1) of all rows of the block.
  void count(const std::vector<std::uint32_t>* list, Workspace<T>& space) const {
    const arma::uword rows = space.queries.n_rows;
    space.counted.zeros(rows);
    const T* counts = cells_.sums.colptr(input_.problem.p_v());
    for (arma::uword c = 0; c < space.cells.n_cols; ++c) add_multiple(counts[c], space.cells.colptr(c), space.counted);
    for (arma::uword t = 0; list && t < list->size(); ++t) add_multiple(T(1), space.near.colptr(t), space.counted);
    for (arma::uword i = 0; near_.by_query() && i < rows; ++i) {
      for (const T weight : space.window_weights[i]) space.counted[i] += weight;
    }
  }
  static void add_multiple(T factor, const T* column, arma::Col<T>& sum) {
    for (arma::uword i = 0; i < sum.n_elem; ++i) sum[i] += factor * column[i];
  }

  // Divides the sums, sees to rows that are out of bounds, and writes all. Returns how many have not their whole
  // correction.
  arma::uword finish(const std::uint32_t* order, const std::vector<std::uint32_t>* list, Workspace<T>& space) {
    const arma::uword rows = space.queries.n_rows, p_v = input_.problem.p_v();
    space.whole = space.sums.col(p_v);
    space.lost.assign(rows, 0);
    if (corrected_) count(list, space);
    for (arma::uword i = 0; i < rows; ++i) {
      if (corrected_ && !(space.whole[i] > T(0.1) * space.counted[i])) space.lost[i] = 1;
      rows_.corrected[order[i]] = 1 / space.whole[i];
      rows_.uncorrected[order[i]] = 0;
      rows_.row_maxima[order[i]] = space.top[i];
    }
    for (arma::uword c = 0; c < p_v; ++c) {
      T* column = space.sums.colptr(c);
      const T low = box_.lowest[c] - box_.slack(c), high = box_.highest[c] + box_.slack(c);
      for (arma::uword i = 0; i < rows; ++i) {
        column[i] /= space.whole[i];
        if (corrected_) space.lost[i] |= static_cast<char>(column[i] > high || column[i] < low);
      }
    }
    arma::uword fallen = 0;
    for (arma::uword i = 0; i < rows; ++i) {
      if (space.lost[i]) bring_back(order[i], i, list, space), ++fallen;
      rows_.denominators[order[i]] = space.whole[i];
    }
    for (arma::uword c = 0; c < p_v; ++c) {
      const T* column = space.sums.colptr(c);
      T* output = rows_.output.colptr(c);
      for (arma::uword i = 0; i < rows; ++i)
        output[order[i]] = std::clamp(column[i], input_.lowest[c], input_.highest[c]);
    }
    if (near_.by_query()) set_doubts(order, space);
    return fallen;
  }

  // Row i, divided, to the point nearest to it on the way from the row without correction that is in the box.
  void bring_back(arma::uword query, arma::uword i, const std::vector<std::uint32_t>* list, Workspace<T>& space) {
    const arma::uword p_v = input_.problem.p_v();
    const T counted = space.counted[i], whole = space.whole[i];
    const arma::Row<T> inside = base(i, list, space).head(p_v) / counted, row = space.sums.row(i).head(p_v);
    const T part = whole > T(0.1) * counted ? box_.part_inside(inside, row) : T(0);
    for (arma::uword c = 0; c < p_v; ++c) {
      space.sums.at(i, c) = part > 0 ? inside[c] + part * (row[c] - inside[c]) : inside[c];
    }
    rows_.corrected[query] = part > 0 ? part / whole : T(0);
    rows_.uncorrected[query] = (1 - part) / counted;
    if (!(part > 0)) space.whole[i] = counted;
  }

  void set_doubts(const std::uint32_t* order, Workspace<T>& space) {
    space.counted.zeros(space.queries.n_rows);
    for (arma::uword c = 0; c < space.cells.n_cols; ++c) {
      for (arma::uword i = 0; i < space.counted.n_elem; ++i) {
        space.counted[i] += space.cells.at(i, c) * space.factors.at(i, c);
      }
    }
    for (arma::uword i = 0; i < space.counted.n_elem; ++i) rows_.doubts[order[i]] = space.counted[i] / space.whole[i];
  }

  void keep_block(const std::uint32_t* order, arma::uword rows, const std::vector<std::uint32_t>* list,
                  const Workspace<T>& space, std::vector<Entry>& kept) {
    for (arma::uword i = 0; i < rows; ++i) {
      rows_.cell_weights.row(order[i]) = space.cells.row(i);
      for (arma::uword t = 0; list && t < list->size(); ++t)
        kept.push_back({order[i], (*list)[t], space.near.at(i, t)});
      for (std::size_t t = 0; near_.by_query() && t < space.window[i].size(); ++t) {
        kept.push_back({order[i], space.window[i][t], space.window_weights[i][t]});
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
  const PointTree& tree_;
  const KeyCells<T>& cells_;
  const NearField& near_;
  const bool corrected_, keep_;
  const arma::Mat<T> sums_;
  const ValueBox<T> box_;
  std::vector<char> listed_;
  std::optional<OpenedCells<T>> opened_;
  arma::Col<T> sizes_;  // of the values of cells; 0 where a cell is one key
  QueryRows<T> rows_;
};

}  // namespace

template <typename T>
QueryRows<T> query_rows(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells,
                        const NearField& near, const arma::Mat<T>& correction, bool keep) {
  const SerialBlas serial;
  return Pass<T>(input, tree, cells, near, correction, keep).run();
}

template QueryRows<float> query_rows(const KrigedInput<float>&, const PointTree&, const KeyCells<float>&,
                                     const NearField&, const arma::Mat<float>&, bool);
template QueryRows<double> query_rows(const KrigedInput<double>&, const PointTree&, const KeyCells<double>&,
                                      const NearField&, const arma::Mat<double>&, bool);

}  // namespace croquis
