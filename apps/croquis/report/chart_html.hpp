// A chart in a page: its picture, its legend, its numbers as a table, and the data that page.js draws it again from.
#pragma once

#include <string>

#include "report/section.hpp"

std::string html_of_chart(const Chart& chart, const std::string& id);
