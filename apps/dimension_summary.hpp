// What the rows of croquis dimension say: curves over n, summary, table and plot.
#pragma once

#include <croquis/io/csv.hpp>
#include <string>
#include <vector>

/// One input, width and epsilon over the numbers of tokens. NaN is what a row does not have.
struct DimensionCurve {
  std::string input, width, epsilon, label;
  std::vector<double> n, d_stat, d_theorem, d_suffices;
};

/// Of the rows of croquis dimension, those of status ok.
std::vector<DimensionCurve> dimension_curves(const croquis::CsvTable& table);

/// A line a curve and metric: first and last n, the values there, and the exponent of n between them.
void write_dimension_summary(const std::string& path, const std::vector<DimensionCurve>& curves);
void print_dimension(const croquis::CsvTable& table);

/// d_stat above, the d of the theorem (dashed) and the d that suffices below, against n. Throws std::invalid_argument
/// when there is nothing to draw.
void draw_dimension(const std::vector<DimensionCurve>& curves, const std::string& path);
