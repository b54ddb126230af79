#include "commands/error_outputs.hpp"

#include <fmt/format.h>

#include <croquis/io/csv.hpp>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "commands/command.hpp"
#include "files/metadata.hpp"

using croquis::ErrorRow;
using croquis::Table;

namespace {

// All that rows lead to.
std::set<std::string> output_names(const Table& table) {
  std::set<std::string> names;
  for (const ErrorRow& row : croquis::error_columns().rows(table)) {
    if (row.status == "ok") names.insert({output_name(row), exact_name(row.input, row.target)});
  }
  return names;
}

}  // namespace

std::string exact_name(const std::string& input, const std::string& target) {
  return fmt::format("{}_exact_{}", croquis::text_of(input), target);
}

std::string output_name(const ErrorRow& row) {
  return fmt::format("{}_{}_{}_d={}_trial={}", croquis::text_of(row.input), row.method, row.preset, row.features,
                     row.trial);
}

void require_outputs(const SavedOutputs& outputs, const Table& found, const std::string& file) {
  for (const std::string& name : output_names(found)) {
    if (const std::string path = outputs.path_of(name); !std::filesystem::exists(path)) {
      throw std::invalid_argument(
          fmt::format("--resume: {} is missing, and {} has a row of it; put it back, or use --overwrite", path, file));
    }
  }
}

std::string outputs_folder(const ErrorOptions& options) {
  const std::filesystem::path folder = std::filesystem::path(options.save_output).lexically_normal();
  return (folder.has_filename() ? folder : folder.parent_path()).string();
}

bool has_outputs_of_result(const ErrorOptions& options) {
  if (!options.run.resume && !options.run.overwrite) return false;
  const std::map<std::string, std::string> earlier = identity_of_run(options.run.out);
  const auto folder = earlier.find("--save-output");
  return folder != earlier.end() && folder->second == outputs_folder(options);
}

std::set<std::string> earlier_outputs(const ErrorOptions& options) {
  try {
    return output_names(typed_table(croquis::read_csv(options.run.out), command_named("error"), options.run.out));
  } catch (const std::invalid_argument&) {
    return {};  // no rows of this command
  }
}
