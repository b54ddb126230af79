// What croquis spectrum prints and draws.
#pragma once

#include <croquis/measure/spectrum_summary.hpp>
#include <vector>

#include "pictures/picture.hpp"

void print_spectra(const std::vector<croquis::SpectrumSummary>& summaries);

/// A heat map over layers and heads of the cumulative spectrum at index 128 (a quarter where there are fewer) when the
/// inputs have several; else the curves of cumulative spectra and of sigma_k / sigma_1. Throws std::invalid_argument
/// when there is nothing to draw.
void draw_spectra(const std::vector<croquis::SpectrumSummary>& summaries, const Picture& picture);
