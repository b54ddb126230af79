// What a row of a method on a problem says first. Not installed.
#pragma once

#include <croquis/attention/method_choice.hpp>
#include <croquis/attention/problem.hpp>
#include <cstdint>

namespace croquis {

/// A row with the method, its target, the sizes, d and the trial, and nothing measured.
template <typename Row, typename T>
Row method_row(const MethodChoice& choice, Target target, const Problem<T>& problem, arma::uword d,
               std::uint64_t trial) {
  Row row;
  row.method = choice.name;
  row.preset = choice.preset;
  row.target = name_of(target);
  row.n = problem.n_k();
  row.n_q = problem.n_q();
  row.p = problem.p();
  row.p_v = problem.p_v();
  row.features = d;
  row.trial = trial;
  return row;
}

}  // namespace croquis
