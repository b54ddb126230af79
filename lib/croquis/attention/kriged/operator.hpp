// The approximation itself, from all that has been chosen: its output and its score matrix.
#pragma once

#include <croquis/attention/kriged/plan.hpp>
#include <croquis/attention/method.hpp>
#include <memory>
#include <vector>

namespace croquis {

template <typename T>
struct KrigedModel {
  std::shared_ptr<const KrigedInput<T>> input;
  PointTree query_tree;
  ExactRows<T> rows;
  KrigedPlan<T> plan;
  // Queries with their exact rows: those that equal the mean of their leaf, the check rows (the last of `rows`, in this
  // order), and the farthest from their leaf's mean.
  std::vector<arma::uword> still, checks, farthest;
  arma::Col<T> importance = {};  ///< of the keys, the weights in the cells' means; empty: all alike
};

template <typename T>
Approximation<T> kriged_approximation(std::shared_ptr<KrigedModel<T>> made);

}  // namespace croquis
