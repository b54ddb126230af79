// Tables in a page, which page.js sorts.
#pragma once

#include <string>

#include "report/section.hpp"

/// Whether a table is the answer itself, as that of the ledger's verdicts: it stands before the charts.
bool is_answer(const ReportTable& table);

/// In a frame that can be folded; open at first where the table is short, or the answer.
std::string html_of_table(const ReportTable& table);

/// A map for each curve, as tables whose cells have colours; of the size and metric that are shown first.
std::string html_of_maps(const HeadMaps& maps);
