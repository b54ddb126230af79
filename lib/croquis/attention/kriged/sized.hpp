// The kriged coreset with given sizes.
#pragma once

#include <croquis/attention/kriged/input.hpp>
#include <croquis/attention/kriged/sizes.hpp>
#include <croquis/attention/kriged_coreset.hpp>
#include <memory>

namespace croquis {

/// kriged_coreset() with given sizes in place of those that solve_sizes() finds for d.
template <typename T>
Approximation<T> kriged_of_sizes(const std::shared_ptr<const KrigedInput<T>>& input, const KrigedSizes& sizes,
                                 const KrigedCoresetOptions& options, const Key& draw_key);

}  // namespace croquis
