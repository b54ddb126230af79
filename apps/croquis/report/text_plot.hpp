// A chart in characters.
#pragma once

#include <string>

#include "report/section.hpp"

/// The default view against the default axes, a letter a curve, with axes, a legend and what has no place on the
/// vertical axis; empty where there is nothing to draw. Where curves meet, the letter of the first stands, and curves
/// of which no letter is left are named below the legend.
std::string text_of_chart(const Chart& chart);
