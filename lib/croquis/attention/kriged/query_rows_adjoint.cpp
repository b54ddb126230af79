#include <algorithm>
#include <croquis/attention/kriged/query_rows_adjoint.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/streamed_adjoint.hpp>
#include <croquis/linalg/transpose.hpp>

namespace croquis {
namespace {

template <typename T>
class RowsBackward {
 public:
  RowsBackward(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells, const NearField<T>& near,
               const arma::Mat<T>& correction, const arma::Mat<T>& cotangent)
      : input_(input),
        cells_(cells),
        near_(near),
        correction_(correction),
        cotangent_(cotangent),
        blocks_(blocks_of_queries(tree, near)),
        pass_(input, tree, cells, near, correction),
        queries_(input.problem.p(), input.problem.n_q()) {}

  QueryRowsAdjoint<T> run() && {
    const std::size_t groups = std::min<std::size_t>(kAdjointGroups, blocks_.size());
    std::vector<Sums> sums(groups);
    parallel_for(groups, [&](std::size_t g) {
      clear(sums[g]);
      for (std::size_t b = g; b < blocks_.size(); b += groups) add(blocks_[b], sums[g]);
    });
    Sums& all = sums.front();
    for (std::size_t g = 1; g < groups; ++g) {
      for (arma::Mat<T> Sums::*member :
           {&Sums::cell_keys, &Sums::sums, &Sums::correction, &Sums::keys, &Sums::values, &Sums::box}) {
        all.*member += sums[g].*member;
        (sums[g].*member).reset();
      }
    }
    return {transposed(queries_), std::move(all.cell_keys), std::move(all.sums), std::move(all.correction),
            transposed(all.keys), transposed(all.values),   all.box.row(0),      all.box.row(1)};
  }

 private:
  struct Sums {
    arma::Mat<T> cell_keys, sums, correction;
    arma::Mat<T> keys, values;  // p x n_k, (p_v + 1) x n_k
    arma::Mat<T> box;           // 2 x p_v: lowest, highest
  };
  // The cotangents of base_i([V, 1]) and full_i([V, 1]) of the rows of a block.
  struct Rows {
    arma::Mat<T> base, full;
  };

  void clear(Sums& sums) const {
    const arma::uword s = cells_.size(), width = input_.value_columns.n_rows, p = input_.problem.p();
    sums.cell_keys.zeros(s, p);
    sums.sums.zeros(s, width);
    sums.box.zeros(2, width - 1);
    if (!correction_.is_empty()) sums.correction.zeros(s, width);
    if (near_.lists.empty() && !near_.by_query()) return;
    sums.keys.zeros(p, input_.problem.n_k());
    sums.values.zeros(width, input_.problem.n_k());
  }

  void add(const QueryBlock& block, Sums& sums) {
    thread_local BlockRows<T> space;
    pass_.fill(block, space);
    pass_.divide(space);
    const Rows of = cotangents(space, sums.box);
    const arma::Mat<T> base = of.base + of.full;  // full_i is base_i and what corrects it
    arma::Mat<T> cells = base * cells_.sums.t();  // of E_ic
    sums.sums += space.cells.t() * base;
    if (!correction_.is_empty()) {
      cells += of.full * correction_.t();
      sums.correction += space.cells.t() * of.full;
    }
    arma::Mat<T> queries(space.queries.n_cols, space.size(), arma::fill::zeros);
    if (space.list) add_near(base, space, cells, queries, sums);
    if (near_.by_query()) add_window(base, space, cells, queries, sums);
    cells %= space.cells;  // of the scores
    if (near_.by_query()) take_out(space, cells, queries, sums);
    queries += (cells * cells_.keys).t();
    sums.cell_keys += cells.t() * space.queries;
    for (arma::uword i = 0; i < space.size(); ++i) queries_.col(space.order[i]) = input_.scale * queries.col(i);
  }

  // Of the quotient of a row with sums over `whole`, to row i of `to`.
  static void add_quotient(const arma::Row<T>& cotangent, const arma::Row<T>& quotient, T whole, arma::uword i,
                           arma::Mat<T>& to) {
    for (arma::uword c = 0; c < cotangent.n_elem; ++c) to.at(i, c) = cotangent[c] / whole;
    to.at(i, cotangent.n_elem) = -arma::dot(cotangent, quotient) / whole;
  }

  Rows cotangents(const BlockRows<T>& space, arma::Mat<T>& box) const {
    const arma::uword p_v = input_.problem.p_v();
    Rows of{arma::Mat<T>(space.size(), p_v + 1, arma::fill::zeros),
            arma::Mat<T>(space.size(), p_v + 1, arma::fill::zeros)};
    for (arma::uword i = 0; i < space.size(); ++i) {
      const arma::Row<T> g = (1 - cells_.mean_share) * cotangent_.row(space.order[i]);
      if (!space.lost[i]) {
        add_quotient(g, space.sums.row(i).head(p_v), space.whole[i], i, of.full);
        continue;
      }
      const BroughtBack<T> back = pass_.bring_back(i, space);
      const T part = back.reached.part;
      arma::Row<T> inside = (1 - part) * g;
      if (part > 0) {
        // part = (edge - inside_c) / (row_c - inside_c) at the column c that is the first to reach the box's edge.
        const arma::uword c = back.reached.column;
        const T step = back.row[c] - back.inside[c], of_part = arma::dot(g, back.row - back.inside) / step;
        arma::Row<T> row = part * g;
        box.at(back.reached.at_highest ? 1 : 0, c) += of_part;
        inside[c] += (part - 1) * of_part;
        row[c] -= part * of_part;
        add_quotient(row, back.row, space.whole[i], i, of.full);
      }
      add_quotient(inside, back.inside, space.counted[i], i, of.base);
    }
    return of;
  }

  // Terms (E_ij - E_i,c(j)) [v_j, 1] of the list.
  void add_near(const arma::Mat<T>& base, const BlockRows<T>& space, arma::Mat<T>& cells, arma::Mat<T>& queries,
                Sums& sums) const {
    const std::vector<std::uint32_t>& list = *space.list;
    const arma::Mat<T> of_values = base.t() * space.near;
    arma::Mat<T> near = base * space.near_values;
    for (arma::uword t = 0; t < list.size(); ++t) {
      const std::uint32_t cell = cells_.cell[list[t]];
      cells.col(cell) -= near.col(t);
      near.col(t) %= space.near.col(t) + space.cells.col(cell);  // of the scores
    }
    const arma::Mat<T> of_keys = space.columns * near;
    queries += space.near_keys * near.t();
    for (arma::uword t = 0; t < list.size(); ++t) {
      sums.values.col(list[t]) += of_values.col(t);
      sums.keys.col(list[t]) += of_keys.col(t);
    }
  }

  // The same of the keys of each query's own.
  void add_window(const arma::Mat<T>& base, const BlockRows<T>& space, arma::Mat<T>& cells, arma::Mat<T>& queries,
                  Sums& sums) const {
    const arma::Mat<T> columns = base.t();
    for (arma::uword i = 0; i < space.size(); ++i) {
      for (std::size_t t = 0; t < space.window[i].size(); ++t) {
        const std::uint32_t key = space.window[i][t], cell = cells_.cell[key];
        const T weight = space.window_weights[i][t];
        const T near = arma::dot(columns.col(i), input_.value_columns.col(key));
        const T score = near * (weight + space.cells.at(i, cell));
        cells.at(i, cell) -= near;
        queries.col(i) += score * input_.keys.columns.col(key);
        sums.keys.col(key) += score * space.columns.col(i);
        sums.values.col(key) += weight * columns.col(i);
      }
    }
  }

  // The score of a cell of n keys without the m that are taken is s_c - w sum (s_j - s_c) / (n - m), w =
  // TakenKeys::kWay.
  void take_out(BlockRows<T>& space, arma::Mat<T>& cells, arma::Mat<T>& queries, Sums& sums) const {
    const T* counts = cells_.sums.colptr(input_.problem.p_v());
    TakenKeys<T>& taken = space.taken;
    const auto each_key = [&](arma::uword i, const auto& of) {
      for (arma::uword t = 0; space.list && t < space.list->size(); ++t) of((*space.list)[t]);
      for (const std::uint32_t key : space.window[i]) of(key);
    };
    for (arma::uword i = 0; i < space.size(); ++i) {
      taken.reset(cells_.size());
      each_key(i, [&](std::uint32_t key) { taken.add(cells_.cell[key], T(0)); });
      each_key(i, [&](std::uint32_t key) {
        const std::uint32_t cell = cells_.cell[key];
        const T left = taken.left(cell, counts[cell]);
        if (!(left > 0)) return;
        const T score = -TakenKeys<T>::kWay * cells.at(i, cell) / left;
        queries.col(i) += score * input_.keys.columns.col(key);
        sums.keys.col(key) += score * space.columns.col(i);
      });
      for (arma::uword c = 0; c < cells_.size(); ++c) {
        const T left = taken.left(c, counts[c]);
        if (left > 0) cells.at(i, c) *= 1 + TakenKeys<T>::kWay * taken.counts[c] / left;
      }
    }
  }

  const KrigedInput<T>& input_;
  const KeyCells<T>& cells_;
  const NearField<T>& near_;
  const arma::Mat<T>&correction_, &cotangent_;
  const std::vector<QueryBlock> blocks_;
  const BlockPass<T> pass_;
  arma::Mat<T> queries_;
};

}  // namespace

template <typename T>
QueryRowsAdjoint<T> query_rows_adjoint(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells,
                                       const NearField<T>& near, const arma::Mat<T>& correction,
                                       const arma::Mat<T>& cotangent) {
  const SerialBlas serial;
  return RowsBackward<T>(input, tree, cells, near, correction, cotangent).run();
}

template QueryRowsAdjoint<float> query_rows_adjoint(const KrigedInput<float>&, const PointTree&, const KeyCells<float>&,
                                                    const NearField<float>&, const arma::Mat<float>&,
                                                    const arma::Mat<float>&);
template QueryRowsAdjoint<double> query_rows_adjoint(const KrigedInput<double>&, const PointTree&,
                                                     const KeyCells<double>&, const NearField<double>&,
                                                     const arma::Mat<double>&, const arma::Mat<double>&);

}  // namespace croquis
