// The part of a result that a user wants to see.
#pragma once

#include <croquis/measure/columns.hpp>
#include <cstdint>
#include <string>
#include <vector>

/// The rows of one input, by the name that the column `input` has. Throws std::invalid_argument, with the nearest
/// names, when there is none.
croquis::Table rows_of_input(croquis::Table table, const std::string& input);

/// The rows of these curves (by the first column that names curves: method, name, map) at these d; empty: all. Throws
/// std::invalid_argument, with those there are, for one that there is not.
croquis::Table rows_of_curves(croquis::Table table, const std::vector<std::string>& curves,
                              const std::vector<std::uint64_t>& features);
