// The pilot of the kriged coreset: do single keys of each query's own do better than cells for all queries?
#pragma once

#include <croquis/attention/kriged/operator.hpp>
#include <croquis/attention/kriged/sizes.hpp>
#include <croquis/attention/kriged_coreset.hpp>

namespace croquis {

/// With no landmarks, only check rows, tries the plans by query that `keys` keys of a query allow, of which the cells
/// are a part. Sets the query tree, with one leaf, and if such a plan is the best the plan; says if it is. Of the
/// budget only the shape of the problem counts.
template <typename T>
bool attends_by_query(KrigedModel<T>& model, const KrigedBudget& budget, arma::uword keys,
                      const KrigedCoresetOptions& options, const Key& draw_key);

}  // namespace croquis
