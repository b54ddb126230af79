// Adjoints against differences of the forward pass.
#pragma once

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
