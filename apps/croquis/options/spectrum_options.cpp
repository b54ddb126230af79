#include "options/spectrum_options.hpp"

#include "options/common_options.hpp"

croquis::SpectrumSettings SpectrumOptions::settings() const {
  return {croquis::spectrum_method_named(method), leading, probes};
}

void SpectrumOptions::describe(std::map<std::string, std::string>& identity) const {
  identity["--method"] = method;
  identity["--leading"] = std::to_string(leading);
  identity["--probes"] = std::to_string(probes);
}

void add_spectrum_options(CLI::App& command, SpectrumOptions& options, const std::string& automatic,
                          const std::string& values) {
  command.add_option("--method", options.method, "dense, lanczos, or auto: lanczos " + automatic)
      ->check(one_of({"auto", "dense", "lanczos"}))
      ->capture_default_str();
  command.add_option("--leading", options.leading, "lanczos: how many " + values + " to compute, the largest ones")
      ->check(whole_number(1, kMaximumTrials))
      ->capture_default_str();
  command
      .add_option("--probes", options.probes,
                  "lanczos: number of random vectors for the estimate of the sum over the others")
      ->check(whole_number(2, kMaximumTrials))
      ->capture_default_str();
}
