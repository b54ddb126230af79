// What to say of options and commands that there are not.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// Of a command line with more than the program takes, `wrong` in the parser's words: names the command or the option
/// that is unknown and the nearest one that there is. Of one with less, what is to be given.
std::string complaint_about_extras(const CLI::App& program, const std::string& wrong);

/// The same of a file of options (--config).
std::string complaint_about_option_in_file(const CLI::App& program, const std::string& wrong);

/// Of an option with too few or too many values, `wrong` in the parser's words.
std::string complaint_about_values(const CLI::App& program, const std::string& wrong);

/// "croquis error --help": what shows the options of the command that was given, or of the program.
std::string help_of(const CLI::App& program);

/// Of a value that is not of its option's kind, `wrong` in the parser's words.
std::string complaint_about_conversion(const CLI::App& program, const std::string& wrong);
