// Adjoints against differences of the forward pass.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/gradient.hpp>
#include <functional>
#include <string>

#include "support/matrices.hpp"

/// A problem of which single numbers are changed: the members of a Gradient are directions in it.
template <typename T>
croquis::Problem<T> moved(const croquis::Problem<T>& problem, const croquis::Gradient<T>& direction, T step) {
  croquis::RelativePosition<T> position = problem.position();
  if (!direction.bias.is_empty()) position.bias += step * direction.bias;
  return {problem.Q() + step * direction.q,
          problem.K() + step * direction.k,
          problem.V() + step * direction.v,
          {},
          position};
}

/// Directions of one kind ("q", "k", "v" or "bias") with normal entries; entries of the bias that are -inf stay.
inline croquis::Gradient<double> direction_of(const croquis::Problem<double>& problem, const std::string& kind,
                                              const croquis::Key& key) {
  croquis::Gradient<double> u;
  u.q.zeros(arma::size(problem.Q()));
  u.k.zeros(arma::size(problem.K()));
  u.v.zeros(arma::size(problem.V()));
  u.bias.zeros(problem.position().bias.n_elem);
  if (kind == "q") u.q = random_matrix(u.q.n_rows, u.q.n_cols, key);
  if (kind == "k") u.k = random_matrix(u.k.n_rows, u.k.n_cols, key);
  if (kind == "v") u.v = random_matrix(u.v.n_rows, u.v.n_cols, key);
  if (kind == "bias") {
    u.bias = random_matrix(u.bias.n_elem, 1, key).as_col();
    u.bias.elem(arma::find_nonfinite(problem.position().bias)).zeros();
  }
  return u;
}

inline double inner(const croquis::Gradient<double>& a, const croquis::Gradient<double>& b) {
  return arma::dot(a.q, b.q) + arma::dot(a.k, b.k) + arma::dot(a.v, b.v) + arma::dot(a.bias, b.bias);
}

struct Derivative {
  double value = 0;
  double error = 0;  ///< what the last step of the extrapolation changed, which exceeds its error where steps are small
};

/// f'(0) from symmetric differences with steps h, h/2, h/4, extrapolated twice (Richardson): off by O(h^6) and u |f| /
/// h.
inline Derivative derivative(const std::function<double(double)>& f, double h) {
  const auto difference = [&](double step) { return (f(step) - f(-step)) / (2 * step); };
  const double a = difference(h), b = difference(h / 2), c = difference(h / 4);
  const double first = (4 * b - a) / 3, second = (4 * c - b) / 3, value = (16 * second - first) / 15;
  return {value, std::abs(value - second)};
}

/// The output of a method as a function of its problem.
using Forward = std::function<arma::mat(const croquis::Problem<double>&)>;

/// <G, dO> against <gradient, d(q, k, v, bias)> in three random directions of each kind. With steps of 2^-12 the
/// extrapolated differences have an error below `allowed` of the size of what is compared, or below their last
/// correction. Where the output jumps, a shorter step meets fewer of the jumps.
inline void check_against_differences(const croquis::Problem<double>& problem, const Forward& forward,
                                      const croquis::Adjoint<double>& adjoint, const croquis::Key& key,
                                      double allowed = 1e-7, double longest_step = 0x1p-12) {
  REQUIRE(adjoint);
  const arma::mat cotangent = random_matrix(problem.n_q(), problem.p_v(), key.child("cotangent"));
  const croquis::Gradient<double> gradient = adjoint(cotangent);
  CHECK(arma::size(gradient.q) == arma::size(problem.Q()));
  CHECK(arma::size(gradient.k) == arma::size(problem.K()));
  CHECK(arma::size(gradient.v) == arma::size(problem.V()));
  CHECK(gradient.bias.n_elem == problem.position().bias.n_elem);
  const double size =
      std::max({1e-3, arma::norm(gradient.q, "fro"), arma::norm(gradient.k, "fro"), arma::norm(gradient.v, "fro")});
  for (const std::string kind : {"q", "k", "v", "bias"}) {
    if (kind == "bias" && gradient.bias.is_empty()) continue;
    CAPTURE(kind);
    for (std::uint64_t i = 0; i < 3; ++i) {
      const croquis::Gradient<double> u = direction_of(problem, kind, key.child(kind).child(i));
      const Derivative expected =
          derivative([&](double step) { return arma::dot(cotangent, forward(moved(problem, u, step))); }, longest_step);
      // Beside a singular core, or a row sum near zero, the differences themselves are less certain.
      CHECK(expected.error <= 1e3 * allowed * size);
      CHECK(std::abs(inner(gradient, u) - expected.value) <= allowed * size + expected.error);
    }
  }
}
