// What somebody meant who wrote a name that there is not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// Letters to insert, remove, replace or swap with their neighbour to make one text of the other, each pair of
/// neighbours swapped at most once (optimal string alignment). Cost: O(a.size() b.size()).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `text`, the first of several; empty where none is near: at most a third of the longer one's
/// letters away, or begun by `text` if that has three letters.
std::string nearest(std::string_view text, const std::vector<std::string>& names);

/// "; did you mean 'skyformer'?", to end a message, or nothing.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

}  // namespace croquis
