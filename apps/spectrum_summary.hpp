// What the singular values in the rows of croquis spectrum say: summary, table and plot.
#pragma once

#include <armadillo>
#include <croquis/io/csv.hpp>
#include <string>
#include <vector>

/// One matrix of one head. NaN is what is not known: with lanczos nothing that needs the smallest singular values.
struct SpectrumSummary {
  std::string input, matrix, method, status;
  arma::uword n = 0, p = 0;
  arma::vec values, cumulative;
  double frobenius = 0, log_scale = 0;
  double nuclear = 0, nuclear_lo = 0, nuclear_hi = 0;  ///< sum of all singular values
  double condition = 0, stable_rank = 0, rank = 0;
  double cumulative_128 = 0, cumulative_quarter = 0;  ///< at index 128, and at a quarter of the singular values
};

/// Of the rows of croquis spectrum, in their order.
std::vector<SpectrumSummary> summarise_spectra(const croquis::CsvTable& table);

void write_spectrum_summary(const std::string& path, const std::vector<SpectrumSummary>& summaries);
void print_spectra(const std::vector<SpectrumSummary>& summaries);

/// A heat map over layers and heads of the cumulative spectrum at index 128 (a quarter where there are fewer) when the
/// inputs have several; else the curves of cumulative spectra and of sigma_k / sigma_1.
void draw_spectra(const std::vector<SpectrumSummary>& summaries, const std::string& path);
