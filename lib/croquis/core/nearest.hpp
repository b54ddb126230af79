// Suggestions for misspelt names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The minimum number of insertions, deletions, replacements and swaps of neighbouring characters that turn one text
/// into the other, where no character is changed after a swap (optimal string alignment). Cost: O(a.size() b.size()).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `text`, the first of several; empty if none is near. A name is near if its edit distance is at
/// most a third of the length of the longer text, or if it begins with `text` and `text` has at least three characters.
/// A `text` of more than 100 characters has no nearest name.
std::string nearest(std::string_view text, const std::vector<std::string>& names);

/// "; did you mean 'skyformer'?", to end a message; empty if no name is near.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

}  // namespace croquis
