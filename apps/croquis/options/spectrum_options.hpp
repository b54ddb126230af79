// How spectra are computed, from the command line's options.
#pragma once

#include <CLI/CLI.hpp>
#include <croquis/measure/spectra.hpp>
#include <map>
#include <string>

struct SpectrumOptions {
  std::string method = "auto";
  arma::uword leading = 128;
  int probes = 16;

  croquis::SpectrumSettings settings() const;
  /// What rows depend on, added to what the meta file says.
  void describe(std::map<std::string, std::string>& identity) const;
};

/// --method, --leading and --probes. `automatic` says where auto takes lanczos, `values` what it computes.
void add_spectrum_options(CLI::App& command, SpectrumOptions& options, const std::string& automatic,
                          const std::string& values);
