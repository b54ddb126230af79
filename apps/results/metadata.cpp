#include "results/metadata.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "results/environment.hpp"
#include "results/whole_file.hpp"

namespace {
using nlohmann::json;

// A name of a file need not be UTF-8; JSON is.
std::string text_of(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace

void write_metadata(const std::string& path, const RunDescription& run) {
  json meta;
  meta["command_line"] = run.command_line;
  meta["configuration"] = run.configuration;
  meta["identity"] = run.identity;
  meta["seed"] = run.seed;
  meta["threads"] = run.threads;
  meta["utc"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(run.start));
  if (run.finished) {
    const Finished& done = *run.finished;
    meta["finished"] = {{"rows", done.rows},
                        {"cells", done.cells},
                        {"cell_columns", done.cell_columns},
                        {"shard", fmt::format("{}/{}", done.shard.index, done.shard.count)}};
  }
  json environment = json::object();
  // "key: value" lines of --version
  const std::string text = environment_text();
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    const std::string line = text.substr(start, end - start);
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) environment[line.substr(0, colon)] = line.substr(colon + 2);
  }
  meta["environment"] = environment;
  write_whole(path, text_of(meta) + '\n');
}

void require_same_identity(const std::string& path, const RunDescription& run) {
  std::ifstream file(path);
  const json meta = json::parse(file, nullptr, false);
  if (meta.is_discarded() || !meta.contains("identity")) {
    throw std::invalid_argument(
        fmt::format("{}: is missing or damaged, so --resume cannot tell whether the rows fit; use --overwrite", path));
  }
  for (const auto& [key, value] : run.identity) {
    const std::string before = meta["identity"].value(key, "nothing");
    if (text_of(before) != text_of(value)) {
      throw std::invalid_argument(
          fmt::format("--resume: {} was {} and is {} now; give the same, or another --out", key, before, value));
    }
  }
}
