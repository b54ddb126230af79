#include <croquis/claims/rational.hpp>
#include <stdexcept>
#include <utility>

namespace croquis::claims {
namespace {

// The reduced row echelon form, and the columns of its pivots.
std::vector<std::size_t> reduce(RationalMatrix& a) {
  std::vector<std::size_t> pivots;
  for (std::size_t c = 0; c < a.cols() && pivots.size() < a.rows(); ++c) {
    const std::size_t top = pivots.size();
    std::size_t pivot = top;
    while (pivot < a.rows() && a(pivot, c) == 0) ++pivot;
    if (pivot == a.rows()) continue;
    for (std::size_t j = 0; j < a.cols(); ++j) std::swap(a(pivot, j), a(top, j));
    const Rational first = a(top, c);
    for (std::size_t j = 0; j < a.cols(); ++j) a(top, j) /= first;
    for (std::size_t i = 0; i < a.rows(); ++i) {
      const Rational factor = a(i, c);
      if (i == top || factor == 0) continue;
      for (std::size_t j = 0; j < a.cols(); ++j) a(i, j) -= factor * a(top, j);
    }
    pivots.push_back(c);
  }
  return pivots;
}

RationalMatrix part(const RationalMatrix& a, std::size_t first_column, std::size_t rows, std::size_t cols) {
  RationalMatrix some(rows, cols);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) some(i, j) = a(i, first_column + j);
  }
  return some;
}

}  // namespace

RationalMatrix::RationalMatrix(std::initializer_list<std::initializer_list<Rational>> rows)
    : cols_(rows.size() == 0 ? 0 : rows.begin()->size()) {
  for (const auto& row : rows) {
    if (row.size() != cols_) throw std::invalid_argument("RationalMatrix: rows of one length");
    entries_.insert(entries_.end(), row.begin(), row.end());
  }
}

RationalMatrix RationalMatrix::identity(std::size_t n) {
  RationalMatrix one(n, n);
  for (std::size_t i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}

RationalMatrix RationalMatrix::transposed() const {
  RationalMatrix t(cols_, rows());
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t j = 0; j < cols_; ++j) t(j, i) = (*this)(i, j);
  }
  return t;
}

RationalMatrix operator*(const RationalMatrix& a, const RationalMatrix& b) {
  if (a.cols() != b.rows()) throw std::invalid_argument("RationalMatrix: sizes that multiply");
  RationalMatrix product(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t k = 0; k < a.cols(); ++k) {
      for (std::size_t j = 0; j < b.cols(); ++j) product(i, j) += a(i, k) * b(k, j);
    }
  }
  return product;
}

RationalMatrix operator*(const Rational& a, const RationalMatrix& b) {
  RationalMatrix scaled = b;
  for (Rational& x : scaled.entries_) x *= a;
  return scaled;
}

RationalMatrix operator+(const RationalMatrix& a, const RationalMatrix& b) {
  if (a.cols() != b.cols() || a.rows() != b.rows()) throw std::invalid_argument("RationalMatrix: one size");
  RationalMatrix sum = a;
  for (std::size_t i = 0; i < sum.entries_.size(); ++i) sum.entries_[i] += b.entries_[i];
  return sum;
}

RationalMatrix operator-(const RationalMatrix& a, const RationalMatrix& b) {
  return a + Rational(-1) * b;
}

RationalMatrix inverse(const RationalMatrix& a) {
  const std::size_t n = a.rows();
  if (a.cols() != n) throw std::invalid_argument("inverse: a square matrix");
  RationalMatrix both(n, 2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) both(i, j) = a(i, j);
    both(i, n + i) = 1;
  }
  const std::vector<std::size_t> pivots = reduce(both);
  if (n > 0 && (pivots.size() < n || pivots.back() >= n))
    throw std::invalid_argument("inverse: the matrix is singular");
  return part(both, n, n, n);
}

RationalMatrix pseudo_inverse(const RationalMatrix& a) {
  RationalMatrix echelon = a;
  const std::vector<std::size_t> pivots = reduce(echelon);
  if (pivots.empty()) return {a.cols(), a.rows()};
  RationalMatrix columns(a.rows(), pivots.size());
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) columns(i, j) = a(i, pivots[j]);
  }
  const RationalMatrix rows = part(echelon, 0, pivots.size(), a.cols());
  return rows.transposed() * inverse(rows * rows.transposed()) * inverse(columns.transposed() * columns) *
         columns.transposed();
}

}  // namespace croquis::claims
