// The arguments that a head is given by.
#pragma once

#include <croquis/attention/problem.hpp>
#include <optional>
#include <vector>

#include "arrays.hpp"

/// Q, K, V and what goes with them, checked to be arrays; what the library asks of them it checks itself.
class HeadArguments {
 public:
  /// `options`: causal (bool), bias (array of 2 max(n_q, n_k) - 1 numbers, or None), length (a number, or None).
  HeadArguments(const py::handle& q, const py::handle& k, const py::handle& v, const py::dict& options);

  arma::uword n_q() const { return static_cast<arma::uword>(q_.shape(0)); }  ///< with padding
  arma::uword n_k() const { return static_cast<arma::uword>(k_.shape(0)); }
  arma::uword p() const { return static_cast<arma::uword>(q_.shape(1)); }
  arma::uword p_v() const { return static_cast<arma::uword>(v_.shape(1)); }
  bool is_float() const { return are_float({q_, k_, v_}); }
  bool is_fortran() const { return are_fortran({q_, k_, v_}); }
  /// Uses the arrays' memory where it can, so it has to go first. Throws std::invalid_argument.
  template <typename T>
  croquis::Problem<T> problem() const;

 private:
  py::array q_, k_, v_;
  bool causal_;
  std::vector<double> bias_;
  std::optional<arma::uword> length_;
};

/// Numbers of features, where they are given.
using Features = std::optional<std::vector<arma::uword>>;
/// The given ones, or those of the program: 16:256, a range that ends at `end`.
std::vector<arma::uword> features_or_range(const Features& given, arma::uword end);

/// visit(Problem<float>) or visit(Problem<double>), by the dtypes of the arrays.
template <typename Visit>
auto visit_problem(const HeadArguments& head, const Visit& visit) {
  return head.is_float() ? visit(head.problem<float>()) : visit(head.problem<double>());
}
