// What there is to say of a ledger, for croquis report and croquis show.
#pragma once

#include <croquis/measure/columns.hpp>

#include "report/section.hpp"

/// The verdicts of the ledger with their readings, all findings, and bound against measured value of claims that have
/// a curve.
Section section_of_ledger(const croquis::Table& table);
