// Options that commands have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "files/run.hpp"
#include "options/input.hpp"

/// The check of every option that counts: decimal digits that mean a number from `minimum` to `maximum`. The parser
/// itself would read 010 as 8 and what has more than 64 bits as the largest number that has.
CLI::Validator whole_number(std::uint64_t minimum, std::uint64_t maximum = std::uint64_t{1} << 30);

/// The check of an option that is one of these words: names the nearest one for another.
CLI::Validator one_of(const std::vector<std::string>& words);

/// To be called once all options are added: none takes an empty value, which would stand for the default, or another
/// option as its value, and a flag takes true or false, yes or no, on or off, 1 or 0 alone.
void require_values(CLI::App& app);

/// The same of what the parser does not show: "--causal=" is a flag that is given, and "--out= x" as "--out x" for it.
/// Throws std::invalid_argument.
void require_values(const std::vector<std::string>& arguments);

/// Groups of options in --help.
inline constexpr const char *kInputGroup = "Input", *kRunGroup = "Run", *kOutputGroup = "Output",
                            *kMeasureGroup = "What is measured";

/// More draws than anybody reads, and fewer than fill a memory.
inline constexpr std::uint64_t kMaximumTrials = 10'000'000;

/// To be called first: options that are added without a group are then of what is measured.
void add_run_options(CLI::App& command, RunOptions& run);
void add_precision_option(CLI::App& command, RunOptions& run);
/// The same option where there is one precision.
void add_double_option(CLI::App& command, RunOptions& run);
void add_bias_options(CLI::App& command, std::string& bias, bool& causal);

/// Returns the first of them that was given, with its dashes, or nothing, to be asked once the command line has been
/// read.
std::function<std::string()> add_input_options(CLI::App& command, InputOptions& input);

/// Of them, those of a model and its tokens: for a command that takes a model alone.
void add_model_options(CLI::App& command, InputOptions& input);

/// A file of arrays or a model says which kind of input it is.
void infer_kind(const CLI::App& command, InputOptions& input);

/// A decoder says that attention is causal. Throws std::invalid_argument for a configuration that cannot be read.
void infer_mask(InputOptions& input);

/// Notes in `run` what was given, for the meta file too, and the default name of the rows.
void describe_run(const CLI::App& command, const std::string& command_line, RunOptions& run);
