// The format of --config: [command], then option="value", one a line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// The options of a command in this format; those that were not given and have no default are left out.
std::string configuration_of(const CLI::App& command);

/// What is wrong with a file of options, in one line; empty when nothing is. Found before the file is parsed: the
/// parser would take the first of two values of one option, and a gigabyte for 16 kB of sections within sections.
std::string complaint_about_configuration(const std::string& path);
