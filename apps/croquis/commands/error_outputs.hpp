// The files of croquis error --save-output. Inputs are called as rows in a file call them, so that these lead to the
// same names.
#pragma once

#include <croquis/measure/method_errors.hpp>
#include <set>
#include <string>

#include "commands/error.hpp"
#include "files/saved_outputs.hpp"

/// Name of the exact output of a head for methods of this target.
std::string exact_name(const std::string& input, const std::string& target);

/// Name of the output that a row is about.
std::string output_name(const croquis::ErrorRow& row);

/// Throws std::invalid_argument where an output of a row of `found`, a result that is gone on with, is missing; `file`
/// has the rows.
void require_outputs(const SavedOutputs& outputs, const croquis::Table& found, const std::string& file);

/// The folder as the meta file has it, so that outs and ./outs/ are one.
std::string outputs_folder(const ErrorOptions& options);

/// Whether the folder has the outputs of the result that is gone on with or replaced: those of another one stay.
bool has_outputs_of_result(const ErrorOptions& options);

/// Names of the outputs of the result that --overwrite replaces; none where the file has no rows of this command.
std::set<std::string> earlier_outputs(const ErrorOptions& options);
