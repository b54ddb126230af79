// Tables in a page, which page.js sorts.
#pragma once

#include <string>

#include "report/section.hpp"

/// In a frame that can be folded; open at first where the table is short.
std::string html_of_table(const ReportTable& table);

/// A map for each curve, as tables whose cells have colours; of the size and metric that are shown first.
std::string html_of_maps(const HeadMaps& maps);
