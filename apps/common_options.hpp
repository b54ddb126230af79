// Options that commands have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "input.hpp"
#include "results/run.hpp"

/// From `least` to 2^30: the check of every option that counts. Beyond 64 bits a number would be taken as the largest.
CLI::Range whole_number(long long least);

void add_run_options(CLI::App& command, RunOptions& run);
void add_precision_option(CLI::App& command, RunOptions& run);
void add_bias_options(CLI::App& command, std::string& bias, bool& causal);

/// Returns whether one of them was given, to be asked once the command line has been read.
std::function<bool()> add_input_options(CLI::App& command, InputOptions& input);

/// A file of arrays or a model says which kind of input it is.
void infer_kind(const CLI::App& command, InputOptions& input);

/// The options in the format that --config reads; those that were not given and have no default are left out.
std::string configuration_of(const CLI::App& command);
