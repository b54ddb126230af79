#include "files/companions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "files/whole_file.hpp"

namespace {

// What is known of a companion: columns that each kind of it has next to each other.
struct CompanionTable {
  Companion file;
  std::vector<const char*> columns;
  bool is_resumed = false;  // a run goes on with it, before it has rows
};

const std::vector<CompanionTable> kCompanions = {
    {summary_file, {"metric,count,failed,", "nuclear_lo,nuclear_hi,", "first_n,last_n,", "increase,increase_error,"}},
    {heads_file, {"metric,heads,failed,"}},
    {layers_file, {"passes,hidden_rel,smallest,"}},
    {draws_file, {"precision,error,cost_ratio,"}, true},
    {steps_file, {"predicted,rise,rise_error,"}}};

bool is_among(const CompanionTable& table, const std::vector<Companion>& companions) {
  return std::find(companions.begin(), companions.end(), table.file) != companions.end();
}

// Whether a file is such a table, and not the rows of another run.
bool is_companion(const std::string& path, const CompanionTable& table) {
  const std::string text = first_bytes(path), header = text.substr(0, text.find('\n'));
  const auto has = [&](const char* columns) { return header.find(columns) != std::string::npos; };
  std::error_code failure;
  return std::any_of(table.columns.begin(), table.columns.end(), has) &&
         !std::filesystem::exists(meta_file(path), failure);
}

}  // namespace

void refuse_existing(const std::string& path) {
  throw std::invalid_argument(
      fmt::format("{}: is there already; --resume goes on with it, --overwrite starts again", path));
}

std::string beside(const std::string& out, const std::string& end) {
  const std::filesystem::path given(out);
  const std::filesystem::path stem =
      given.extension() == ".csv" ? std::filesystem::path(given).replace_extension() : given;
  return stem.string() + end;
}

std::string meta_file(const std::string& out) {
  return beside(out, ".meta.json");
}

std::string choice_file(const std::string& out) {
  return beside(out, ".json");
}

std::string summary_file(const std::string& out) {
  return beside(out, ".summary.csv");
}

std::string heads_file(const std::string& out) {
  return beside(out, ".heads.csv");
}

std::string layers_file(const std::string& out) {
  return beside(out, ".layers.csv");
}

std::string draws_file(const std::string& out) {
  return beside(out, ".draws.csv");
}

std::string steps_file(const std::string& out) {
  return beside(out, ".steps.csv");
}

bool is_companion_of_rows(const std::string& path) {
  return std::any_of(kCompanions.begin(), kCompanions.end(), [&](const CompanionTable& table) {
    return path.ends_with(table.file("")) && is_companion(path, table);
  });
}

std::vector<std::string> companions_of(const std::string& out) {
  std::vector<std::string> paths;
  for (const CompanionTable& table : kCompanions) paths.push_back(table.file(out));
  return paths;
}

void require_companions(const std::string& out, const std::vector<Companion>& companions, Existing existing) {
  std::error_code failure;
  const auto is_there = [&](const std::string& path) {
    return std::filesystem::exists(path, failure) && std::filesystem::file_size(path, failure) > 0;
  };
  if (existing == Existing::refuse && is_there(out)) return;  // the rows are refused themselves
  for (const CompanionTable& table : kCompanions) {
    const std::string path = table.file(out);
    if (!is_among(table, companions)) continue;
    if (!is_there(target_of(path))) continue;
    // Where the rows alone are gone, the meta file still says that the table was of a result of this name.
    const bool is_known = existing != Existing::refuse || is_there(meta_file(out));
    if (is_known && is_companion(path, table)) {
      if (existing == Existing::refuse && table.is_resumed) refuse_existing(path);
      continue;
    }
    throw std::invalid_argument(fmt::format(
        "{}: is there and is not of this result, which has a table of that name; move it, or give another --out",
        path));
  }
}

void require_still_companion(const std::string& path) {
  if (first_bytes(path).empty() || is_companion_of_rows(path)) return;
  throw std::runtime_error(fmt::format(
      "{}: was made by somebody else while this run went on, which has a table of that name; the rows of this run are "
      "safe, and once that file is moved the same command with --resume makes the table",
      path));
}

bool has_rows_to_resume(const std::string& out, const std::vector<Companion>& companions) {
  return std::any_of(kCompanions.begin(), kCompanions.end(), [&](const CompanionTable& table) {
    if (!table.is_resumed || !is_among(table, companions)) return false;
    const std::string text = first_bytes(table.file(out));
    const std::size_t end = text.find('\n');
    return end != std::string::npos && end + 1 < text.size();
  });
}

void remove_companions(const std::string& out) {
  for (const CompanionTable& table : kCompanions) {
    const std::string path = table.file(out);
    if (path == out || !is_companion(path, table)) continue;
    std::error_code failure;
    std::filesystem::remove(path, failure);
    if (failure) throw std::runtime_error(fmt::format("{}: cannot be removed: {}", path, failure.message()));
  }
}
