// The tables that croquis sketch prints.
#pragma once

#include <croquis/measure/columns.hpp>

/// Of the rows of a run, which have one matrix: a table for each measure, of operators or of landmark policies. A row
/// that failed is in the tables of its kind alone, and in none of a product or norm that nothing was measured of.
void print_sketch_tables(const croquis::Table& table);
