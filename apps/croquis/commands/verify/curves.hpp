// The plot of croquis verify: bound and measured value of the claims that have a curve.
#pragma once

#include <croquis/claims/claim_rows.hpp>
#include <map>
#include <string>
#include <vector>

#include "pictures/picture.hpp"

struct ClaimPoint {
  double x, measured, bound;
  double lo, hi;  ///< the interval of what was measured; NaN where there is none
};

/// What was measured against what the curve of a claim runs over, by series: inputs that differ in that variable alone.
struct ClaimCurves {
  std::string title, variable, measured;                  ///< the title of the claim, and what stands along the axes
  std::map<std::string, std::vector<ClaimPoint>> series;  ///< of two points at least
};

/// Of the claims that have a curve and two findings on it, in the order of the ledger.
std::vector<ClaimCurves> claim_curves(const std::vector<croquis::claims::ClaimRow>& rows);

/// One panel for every claim of the table with Claim::curve: what was measured (or its observed quantile) as points and
/// lines, a colour a series (inputs that differ in the curve's variable alone), with the bound dashed in the same
/// colour. Throws std::invalid_argument when no claim of the table has a curve, std::runtime_error when gnuplot fails.
void draw_curves(const std::vector<croquis::claims::ClaimRow>& rows, const Picture& picture);
