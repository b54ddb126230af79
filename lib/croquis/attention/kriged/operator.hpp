// The approximation itself, from all that has been chosen: its output and its score matrix.
#pragma once

#include <croquis/attention/kriged/plan.hpp>
#include <croquis/attention/method.hpp>
#include <memory>
#include <vector>

namespace croquis {

/// Everything that has been chosen.
template <typename T>
struct KrigedModel {
  std::shared_ptr<const KrigedInput<T>> input;
  PointTree query_tree;
  ExactRows<T> rows;
  KrigedPlan<T> plan;
  // Queries with their exact rows: those that equal the mean of their leaf, the check rows (the last of `rows`, in this
  // order), and the farthest from their leaf's mean.
  std::vector<arma::uword> still, checks, farthest;
  arma::Col<T> importance = {};  ///< weights of the keys in the means of the cells; empty: all weights are equal
};

/// The approximation by the model. Where the plan gives exact rows to the queries with the largest doubts, it sets
/// made->farthest to these queries.
template <typename T>
Approximation<T> kriged_approximation(std::shared_ptr<KrigedModel<T>> made);

}  // namespace croquis
