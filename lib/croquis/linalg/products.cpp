#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/transpose.hpp>
#include <vector>

namespace croquis {
namespace {

constexpr arma::uword kLeastBlock = 64, kBlock = 512, kMostGroups = 16;

// The number of rows or columns in each part: an eighth of `size`, within the range that BLAS handles at full speed.
arma::uword block_of(arma::uword size) {
  return std::clamp(blocks_of(size / 8, kLeastBlock) * kLeastBlock, kLeastBlock, kBlock);
}

// op(A) or op(B), with the position of its rows and columns in memory.
template <typename T>
struct Factor {
  const arma::Mat<T>& m;
  bool turned = false;
  arma::uword skipped = 0;  // columns of op(M) before the first that is used

  arma::uword rows() const { return turned ? m.n_cols : m.n_rows; }
  arma::uword cols() const { return turned ? m.n_rows : m.n_cols; }
  const T* at(arma::uword row, arma::uword col) const {
    col += skipped;
    return turned ? m.memptr() + col + row * m.n_rows : m.memptr() + row + col * m.n_rows;
  }
  CBLAS_TRANSPOSE operation() const { return turned ? CblasTrans : CblasNoTrans; }
  arma::uword stride() const { return std::max<arma::uword>(1, m.n_rows); }
  // A pointer to op(M)(row + i, col + j), i < rows, j < cols, without gaps: into M, or into a copy in `tile`.
  const T* tile_at(arma::uword row, arma::uword col, arma::uword rows, arma::uword cols, arma::Mat<T>& tile) const {
    if (!turned && rows == m.n_rows) return at(row, col);
    tile.set_size(rows, cols);
    if (turned) {
      transpose_block(at(row, col), m.n_rows, cols, rows, tile.memptr(), rows);
    } else {
      tile = m.submat(row, col + skipped, arma::size(tile));
    }
    return tile.memptr();
  }
};

// A rows x cols part of C, from the terms first ... first + inner - 1.
struct Part {
  arma::uword row, col, rows, cols, first, inner;
};

// Adds to beta C, by tiles of op(A) without gaps, which stay in cache for all columns of op(B).
template <typename T>
void multiply(const Factor<T>& a, const Factor<T>& b, const Part& part, T scale, T beta, T* c, arma::uword stride) {
  constexpr arma::uword tile_rows = 64, tile_terms = kNarrowTerms<T>, least = 16;
  // Few columns are not worth tiles, but where BLAS would copy and transpose all of a wide op(A).
  const bool copied_by_blas = a.turned && part.inner <= tile_terms;
  if (part.rows < least || (part.cols < least && !copied_by_blas)) {
    return gemm(a.operation(), b.operation(), part.rows, part.cols, part.inner, scale, a.at(part.row, part.first),
                a.stride(), b.at(part.first, part.col), b.stride(), beta, c, stride);
  }
  thread_local arma::Mat<T> tile;
  const arma::uword tiles = std::max<arma::uword>(1, part.rows / tile_rows);  // the last one also has the remainder
  for (arma::uword term = 0; term < part.inner; term += tile_terms) {
    const arma::uword first = part.first + term, terms = std::min(tile_terms, part.inner - term);
    for (arma::uword t = 0; t < tiles; ++t) {
      const arma::uword row = t * tile_rows, rows = t + 1 < tiles ? tile_rows : part.rows - row;
      const T* of_a = a.tile_at(part.row + row, first, rows, terms, tile);
      narrow_gemm(b.operation(), rows, part.cols, terms, scale, of_a, b.at(first, part.col), b.stride(),
                  term == 0 ? beta : T(1), c + row, stride);
    }
  }
}

template <typename T>
arma::Mat<T> multiply(const Factor<T>& a, const Factor<T>& b, T scale = 1) {
  const arma::uword m = a.rows(), n = b.cols(), inner = a.cols();
  require(inner == b.rows(), "product", "one inner size", {{"left", inner}, {"right", b.rows()}});
  if (m == 0 || n == 0 || inner == 0) return arma::Mat<T>(m, n, arma::fill::zeros);
  arma::Mat<T> c(m, n, arma::fill::none);
  const arma::uword longer = std::max(m, n), shorter = std::min(m, n), block = block_of(longer);
  if (longer > block && inner < 4 * longer) {
    const bool by_rows = m >= n;
    parallel_for(blocks_of(longer, block), 2 * block * shorter * inner, [&](std::size_t task) {
      const arma::uword first = task * block, count = std::min(block, longer - first);
      const Part part = by_rows ? Part{first, 0, count, n, 0, inner} : Part{0, first, m, count, 0, inner};
      multiply(a, b, part, scale, T(0), c.memptr() + part.row + part.col * m, m);
    });
    return c;
  }
  const arma::uword groups = std::min(kMostGroups, blocks_of(inner, kBlock));
  const auto part_of = [&](arma::uword g) {
    const arma::uword first = g * inner / groups;
    return Part{0, 0, m, n, first, (g + 1) * inner / groups - first};
  };
  std::vector<arma::Mat<T>> others(groups - 1);  // sums of the groups after the first
  parallel_for(groups, 2 * m * n * (inner / groups), [&](std::size_t g) {
    if (g > 0) others[g - 1].set_size(m, n);
    multiply(a, b, part_of(g), scale, T(0), g == 0 ? c.memptr() : others[g - 1].memptr(), m);
  });
  for (const arma::Mat<T>& other : others) c += other;
  return c;
}

// op(A) from column `first` on, times B.
template <typename T>
void add(const char* where, const Factor<T>& a, arma::uword first, const arma::Mat<T>& b, arma::Mat<T>& c) {
  require(b.n_rows <= a.cols() && first <= a.cols() - b.n_rows && c.n_rows == a.rows() && c.n_cols == b.n_cols, where,
          "as many terms in A as rows in B, and a C of the product's size",
          {{"terms", a.cols()}, {"first", first}, {"b.rows", b.n_rows}, {"c.rows", c.n_rows}, {"c.cols", c.n_cols}});
  if (c.is_empty() || b.is_empty()) return;
  const Factor<T> terms{b, false};
  // Terms are counted from `first` in A and from 0 in B.
  multiply<T>({a.m, a.turned, first}, terms, {0, 0, c.n_rows, c.n_cols, 0, b.n_rows}, T(1), T(1), c.memptr(), c.n_rows);
}

}  // namespace

template <typename T>
arma::Mat<T> product(const arma::Mat<T>& a, const arma::Mat<T>& b, T scale) {
  return multiply<T>({a, false}, {b, false}, scale);
}
template <typename T>
arma::Mat<T> product_tn(const arma::Mat<T>& a, const arma::Mat<T>& b) {
  // The tiles are taken from the narrower matrix, but where the terms are so few that this would transpose more.
  if (a.n_cols > b.n_cols && a.n_rows > kNarrowTerms<T>) return multiply<T>({b, true}, {a, false}).t();
  return multiply<T>({a, true}, {b, false});
}
template <typename T>
arma::Mat<T> product_nt(const arma::Mat<T>& a, const arma::Mat<T>& b) {
  return multiply<T>({a, false}, {b, true});
}
template <typename T>
void add_product(const arma::Mat<T>& a, arma::uword first, const arma::Mat<T>& b, arma::Mat<T>& c) {
  add<T>("add_product", {a, false}, first, b, c);
}
template <typename T>
void add_product_tn(const arma::Mat<T>& a, arma::uword first, const arma::Mat<T>& b, arma::Mat<T>& c) {
  add<T>("add_product_tn", {a, true}, first, b, c);
}
template <typename T>
arma::Mat<T> product_symmetric(const arma::Mat<T>& a, const arma::Mat<T>& b, T scale) {
  const arma::uword d = a.n_rows, blocks = blocks_of(d, kLeastBlock);
  require(a.is_square() && arma::size(a) == arma::size(b), "product_symmetric", "two square matrices of one size",
          {{"a.rows", d}, {"a.cols", a.n_cols}, {"b.rows", b.n_rows}, {"b.cols", b.n_cols}});
  arma::Mat<T> c(d, d, arma::fill::none);
  parallel_for(blocks, 2 * d * d * kLeastBlock, [&](std::size_t i) {
    // A long and a short column of blocks together, so that all threads get the same work.
    const arma::uword col = (i % 2 == 0 ? blocks - 1 - i / 2 : i / 2) * kLeastBlock;
    const arma::uword cols = std::min(kLeastBlock, d - col);
    multiply<T>({a, false}, {b, false}, {0, col, col + cols, cols, 0, d}, scale, T(0), c.colptr(col), d);
    transpose_block(c.colptr(col), d, col, cols, c.memptr() + col, d);
  });
  return c;
}
template <typename T>
void product_nt_block(T scale, const arma::Mat<T>& a, arma::uword i0, const arma::Mat<T>& b, arma::uword j0,
                      arma::Mat<T>& block) {
  require(a.n_cols == b.n_cols && block.n_rows <= a.n_rows && i0 <= a.n_rows - block.n_rows &&
              block.n_cols <= b.n_rows && j0 <= b.n_rows - block.n_cols,
          "product_nt_block", "rows of A and B of one width, as many as the block has",
          {{"a.rows", a.n_rows},
           {"i0", i0},
           {"block.rows", block.n_rows},
           {"b.rows", b.n_rows},
           {"j0", j0},
           {"block.cols", block.n_cols}});
  if (block.is_empty() || a.n_cols == 0) return void(block.zeros());
  multiply<T>({a, false}, {b, true}, {i0, j0, block.n_rows, block.n_cols, 0, a.n_cols}, scale, T(0), block.memptr(),
              block.n_rows);
}

template arma::Mat<float> product(const arma::Mat<float>&, const arma::Mat<float>&, float);
template arma::Mat<double> product(const arma::Mat<double>&, const arma::Mat<double>&, double);
template arma::Mat<float> product_tn(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> product_tn(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> product_nt(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> product_nt(const arma::Mat<double>&, const arma::Mat<double>&);
template void add_product(const arma::Mat<float>&, arma::uword, const arma::Mat<float>&, arma::Mat<float>&);
template void add_product(const arma::Mat<double>&, arma::uword, const arma::Mat<double>&, arma::Mat<double>&);
template void add_product_tn(const arma::Mat<float>&, arma::uword, const arma::Mat<float>&, arma::Mat<float>&);
template void add_product_tn(const arma::Mat<double>&, arma::uword, const arma::Mat<double>&, arma::Mat<double>&);
template arma::Mat<float> product_symmetric(const arma::Mat<float>&, const arma::Mat<float>&, float);
template arma::Mat<double> product_symmetric(const arma::Mat<double>&, const arma::Mat<double>&, double);
template void product_nt_block(float, const arma::Mat<float>&, arma::uword, const arma::Mat<float>&, arma::uword,
                               arma::Mat<float>&);
template void product_nt_block(double, const arma::Mat<double>&, arma::uword, const arma::Mat<double>&, arma::uword,
                               arma::Mat<double>&);

}  // namespace croquis
