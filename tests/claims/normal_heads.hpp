// Heads of normal tokens of width 8, and of values that are all alike.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/random/draws.hpp>

#include "support/seed.hpp"

inline arma::mat normal(arma::uword n, arma::uword p, const char* name) {
  arma::mat x(n, p);
  croquis::fill_normal(croquis::Key(test_seed()).child(name), 0, x.n_elem, x.memptr());
  return x;
}

/// Normal tokens, queries and keys `size` times as long.
inline croquis::Problem<double> tokens(arma::uword n, double size) {
  return {size * normal(n, 8, "q"), size * normal(n, 8, "k"), normal(n, 8, "v")};
}

inline croquis::Problem<double> with_values(const croquis::Problem<double>& problem, double value) {
  arma::mat values(problem.n(), 8);
  return {problem.Q(), problem.K(), values.fill(value)};
}
