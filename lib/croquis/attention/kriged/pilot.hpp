// The pilot of the kriged coreset: do single keys of each query's own do better than cells for all queries?
#pragma once

#include <croquis/attention/kriged/operator.hpp>
#include <croquis/attention/kriged/sizes.hpp>
#include <croquis/attention/kriged_coreset.hpp>

namespace croquis {

/// Tries, on a model that has check rows and no landmarks, the plans by query in which a query attends to `keys` keys
/// and cells together. Sets the model's query tree to a tree of one leaf. If plan_by_query() finds a plan, sets the
/// model's plan and returns true. Of the budget only the shape of the problem is used.
template <typename T>
bool attends_by_query(KrigedModel<T>& model, const KrigedBudget& budget, arma::uword keys,
                      const KrigedCoresetOptions& options, const Key& draw_key);

}  // namespace croquis
