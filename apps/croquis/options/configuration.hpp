// The format of --config: [command], then option="value", one a line.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

/// Reads it: as CLI11 does, but a value that is one text in quotes is taken as it stands, with # and commas in it. In
/// single quotes nothing else is special; in double quotes \" is a quote, \\ a backslash and \xHH a byte. A list, [a,
/// b] or a, b, is the text "a,b".
std::shared_ptr<CLI::Config> configuration_format();

/// The options of a command in this format, to be read by it; those that were not given and have no default are left
/// out, and so are those that say nothing of the result (--resume, --overwrite, --quiet).
std::string configuration_of(const CLI::App& command);

/// Throws std::invalid_argument, with the commands that there are options of, unless the file has some of this one: a
/// run on defaults is not what a file is given for.
void require_options_of(const std::string& command, const std::string& path);

/// What is wrong with a file of options, in one line; empty when nothing is. Found before the file is parsed: the
/// parser would take the first of two values of one option, and a gigabyte for 16 kB of sections within sections.
std::string complaint_about_configuration(const std::string& path);
