// Small matrices of rational numbers: counterexamples that no rounding can make or hide.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace croquis::claims {

using Rational = boost::multiprecision::cpp_rational;

/// A dense matrix of rationals, by rows.
class RationalMatrix {
 public:
  RationalMatrix(std::size_t rows, std::size_t cols) : cols_(cols), entries_(rows * cols) {}
  RationalMatrix(std::initializer_list<std::initializer_list<Rational>> rows);
  static RationalMatrix identity(std::size_t n);

  std::size_t rows() const { return cols_ == 0 ? 0 : entries_.size() / cols_; }
  std::size_t cols() const { return cols_; }
  Rational& operator()(std::size_t i, std::size_t j) { return entries_[i * cols_ + j]; }
  const Rational& operator()(std::size_t i, std::size_t j) const { return entries_[i * cols_ + j]; }

  RationalMatrix transposed() const;
  bool operator==(const RationalMatrix&) const = default;

  friend RationalMatrix operator*(const RationalMatrix& a, const RationalMatrix& b);
  friend RationalMatrix operator*(const Rational& a, const RationalMatrix& b);
  friend RationalMatrix operator+(const RationalMatrix& a, const RationalMatrix& b);
  friend RationalMatrix operator-(const RationalMatrix& a, const RationalMatrix& b);

 private:
  std::size_t cols_;
  std::vector<Rational> entries_;
};

/// A^{-1}. Throws std::invalid_argument for a matrix that is not square or is singular.
RationalMatrix inverse(const RationalMatrix& a);

/// The pseudo-inverse of A, by a factorisation A = C R of full rank: A^+ = R^T (R R^T)^{-1} (C^T C)^{-1} C^T.
RationalMatrix pseudo_inverse(const RationalMatrix& a);

}  // namespace croquis::claims
