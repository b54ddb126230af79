#include <cblas.h>

#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <vector>

namespace croquis {
namespace {

constexpr arma::uword kLeastBlock = 64, kBlock = 512, kMostGroups = 16;

// Rows or columns of a part of `size` of them: an eighth, within what BLAS does at full speed.
arma::uword block_of(arma::uword size) {
  return std::clamp((size / 8 + kLeastBlock - 1) / kLeastBlock * kLeastBlock, kLeastBlock, kBlock);
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb,
          float* c, int ldc) {
  cblas_sgemm(CblasColMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a, int lda, const double* b,
          int ldb, double* c, int ldc) {
  cblas_dgemm(CblasColMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}

// op(A) or op(B): where its rows and columns are.
template <typename T>
struct Factor {
  const arma::Mat<T>& m;
  bool turned;

  arma::uword rows() const { return turned ? m.n_cols : m.n_rows; }
  arma::uword cols() const { return turned ? m.n_rows : m.n_cols; }
  const T* at(arma::uword row, arma::uword col) const {
    return turned ? m.memptr() + col + row * m.n_rows : m.memptr() + row + col * m.n_rows;
  }
  CBLAS_TRANSPOSE operation() const { return turned ? CblasTrans : CblasNoTrans; }
  int stride() const { return static_cast<int>(std::max<arma::uword>(1, m.n_rows)); }
};

// rows x cols of C, from terms first ... first + inner - 1.
struct Part {
  arma::uword row, col, rows, cols, first, inner;
};

template <typename T>
void multiply(const Factor<T>& a, const Factor<T>& b, const Part& part, T* c, arma::uword stride) {
  gemm(a.operation(), b.operation(), static_cast<int>(part.rows), static_cast<int>(part.cols),
       static_cast<int>(part.inner), a.at(part.row, part.first), a.stride(), b.at(part.first, part.col), b.stride(), c,
       static_cast<int>(stride));
}

template <typename T>
arma::Mat<T> multiply(const Factor<T>& a, const Factor<T>& b) {
  const arma::uword m = a.rows(), n = b.cols(), inner = a.cols();
  require(inner == b.rows(), "product", "one inner size", {{"left", inner}, {"right", b.rows()}});
  if (m == 0 || n == 0 || inner == 0) return arma::Mat<T>(m, n, arma::fill::zeros);
  arma::Mat<T> c(m, n, arma::fill::none);
  const arma::uword longer = std::max(m, n), shorter = std::min(m, n), block = block_of(longer);
  if (longer > block && inner < 4 * longer) {
    const bool by_rows = m >= n;
    parallel_for((longer + block - 1) / block, 2 * block * shorter * inner, [&](std::size_t task) {
      const arma::uword first = task * block, count = std::min(block, longer - first);
      const Part part = by_rows ? Part{first, 0, count, n, 0, inner} : Part{0, first, m, count, 0, inner};
      multiply(a, b, part, c.memptr() + part.row + part.col * m, m);
    });
    return c;
  }
  const arma::uword groups = std::min(kMostGroups, (inner + kBlock - 1) / kBlock);
  const auto part_of = [&](arma::uword g) {
    const arma::uword first = g * inner / groups;
    return Part{0, 0, m, n, first, (g + 1) * inner / groups - first};
  };
  std::vector<arma::Mat<T>> others(groups - 1);  // sums of the groups after the first
  parallel_for(groups, 2 * m * n * (inner / groups), [&](std::size_t g) {
    if (g > 0) others[g - 1].set_size(m, n);
    multiply(a, b, part_of(g), g == 0 ? c.memptr() : others[g - 1].memptr(), m);
  });
  for (const arma::Mat<T>& other : others) c += other;
  return c;
}

}  // namespace

template <typename T>
arma::Mat<T> product(const arma::Mat<T>& a, const arma::Mat<T>& b) {
  return multiply<T>({a, false}, {b, false});
}
template <typename T>
arma::Mat<T> product_tn(const arma::Mat<T>& a, const arma::Mat<T>& b) {
  return multiply<T>({a, true}, {b, false});
}
template <typename T>
arma::Mat<T> product_nt(const arma::Mat<T>& a, const arma::Mat<T>& b) {
  return multiply<T>({a, false}, {b, true});
}
template <typename T>
void product_nt_rows(const arma::Mat<T>& a, const arma::Mat<T>& b, arma::uword first, arma::Mat<T>& rows) {
  require(a.n_cols == b.n_cols && rows.n_cols == b.n_rows && first + rows.n_rows <= a.n_rows, "product_nt_rows",
          "rows of A B^T", {{"first", first}, {"rows", rows.n_rows}, {"of", a.n_rows}});
  if (rows.is_empty() || a.n_cols == 0) return void(rows.zeros());
  multiply<T>({a, false}, {b, true}, {first, 0, rows.n_rows, rows.n_cols, 0, a.n_cols}, rows.memptr(), rows.n_rows);
}

template arma::Mat<float> product(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> product(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> product_tn(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> product_tn(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> product_nt(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> product_nt(const arma::Mat<double>&, const arma::Mat<double>&);
template void product_nt_rows(const arma::Mat<float>&, const arma::Mat<float>&, arma::uword, arma::Mat<float>&);
template void product_nt_rows(const arma::Mat<double>&, const arma::Mat<double>&, arma::uword, arma::Mat<double>&);

}  // namespace croquis
