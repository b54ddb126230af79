// croquis merge: the parts of a run with --shard as one result.

#include <fmt/format.h>

#include <algorithm>
#include <croquis/core/counted.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/io/json.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

#include "commands/command.hpp"
#include "files/companions.hpp"
#include "files/metadata.hpp"
#include "files/row_file.hpp"
#include "files/shard.hpp"
#include "files/whole_file.hpp"

namespace {

using nlohmann::json;
using Row = std::vector<std::string>;

// Not part of what the rows are; --threads is, in the identity, where it matters.
const std::set<std::string> kOfOnePart = {"shard",   "out",   "plot",   "save-output",
                                          "threads", "quiet", "resume", "overwrite"};

struct MergeOptions {
  std::string out;
  std::vector<std::string> parts;  ///< CSV files, each with its meta file beside it
  bool overwrite = false;
};

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument("merge: " + why);
}

struct PartCell {
  Row key;
  std::vector<Row> rows;
};

struct Part {
  std::string path;
  json meta;
  Shard shard;
  croquis::CsvTable table;
  std::vector<PartCell> cells;  // in the order of the file
};

// "key=value" lines of a configuration, without those that tell one part from another.
std::map<std::string, std::string> options_in(const std::string& configuration) {
  std::map<std::string, std::string> options;
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    const std::string name = line.substr(0, equals);
    if (equals != std::string::npos && !kOfOnePart.contains(name)) options[name] = line.substr(equals + 1);
  }
  return options;
}

// Of a part with its rows in `path`. Throws json::exception for a meta file that is other than a run writes it.
json metadata_of(const std::string& path) {
  json meta = read_metadata(meta_file(path));
  if (meta.contains("merged")) {
    refuse(fmt::format("{}: has been merged, and has the rows of all shards; give the shards", path));
  }
  for (const char* text : {"command_line", "utc"}) meta.at(text).get<std::string>();
  meta.at("threads").get<int>();
  meta.at("identity").get<std::map<std::string, std::string>>();
  meta.at("environment").get<std::map<std::string, std::string>>();
  meta["identity"].at("command").get<std::string>();
  meta.at("configuration").get<std::string>();
  if (meta.contains("finished")) {
    meta["finished"].at("cells").get<std::size_t>();
    meta["finished"].at("digest").get<std::string>();
  }
  return meta;
}

Part read_part(const std::string& path) {
  Part part;
  part.path = path;
  require_result(path);
  part.table = croquis::read_csv(path);
  part.meta = metadata_of(path);
  if (!part.meta.contains("finished")) {
    refuse(fmt::format("{}: is not finished; its command with --resume continues it", path));
  }
  const json& finished = part.meta["finished"];
  part.shard = parse_shard(finished.at("shard"));
  const std::size_t rows = finished.at("rows");
  if (part.table.rows.size() != rows) {
    refuse(
        fmt::format("{}: has {} where its run wrote {}", path, croquis::counted(part.table.rows.size(), "row"), rows));
  }
  if (const std::string change = change_since_run(path); !change.empty()) refuse(change + "; make it again");
  std::vector<std::size_t> columns;
  for (const auto& name : finished.at("cell_columns")) columns.push_back(part.table.column(name.get<std::string>()));
  for (const Row& row : part.table.rows) {
    Row key;
    for (const std::size_t c : columns) key.push_back(row[c]);
    if (part.cells.empty() || part.cells.back().key != key) part.cells.push_back({std::move(key), {}});
    part.cells.back().rows.push_back(row);
  }
  return part;
}

// Names one thing that two parts do not have in common: the command where it differs, as all else follows from it.
void require_same(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b,
                  const Part& first, const Part& other) {
  const auto value_of = [](const auto& values, const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() ? "nothing" : found->second;
  };
  std::vector<std::string> keys = {"command"};
  for (const auto* values : {&a, &b}) {
    for (const auto& [key, value] : *values) keys.push_back(key);
  }
  std::sort(keys.begin() + 1, keys.end());
  for (const std::string& key : keys) {
    const std::string one = value_of(a, key), another = value_of(b, key);
    if (one == another) continue;
    refuse(fmt::format("{} has {} = {}, {} has {}; they are not parts of one run", first.path, key,
                       about_difference(one, another), other.path, about_difference(another, one)));
  }
}

std::map<std::string, std::string> identity_in(const Part& part) {
  auto identity = part.meta["identity"].get<std::map<std::string, std::string>>();
  identity.erase("--shard");
  if (identity.contains("--save-output")) identity["--save-output"] = "yes";  // each part has a folder of its own
  for (const char* key : {"croquis", "commit"}) identity[key] = part.meta["environment"].value(key, "unknown");
  return identity;
}

void require_one_run(const std::vector<Part>& parts) {
  const Part& first = parts.front();
  for (const Part& part : parts) {
    require_same(identity_in(first), identity_in(part), first, part);
    require_same(options_in(first.meta.value("configuration", "")), options_in(part.meta.value("configuration", "")),
                 first, part);
    if (part.table.header != first.table.header) {
      refuse(fmt::format("{} and {} have different columns", first.path, part.path));
    }
    if (part.shard.count != first.shard.count) {
      refuse(fmt::format("{} is one of {} shards, {} one of {}", first.path, first.shard.count, part.path,
                         part.shard.count));
    }
  }
}

// The parts by the number of their shard: each once, all there, each with its cells.
std::vector<const Part*> in_order(const std::vector<Part>& parts) {
  std::vector<const Part*> ordered(parts.front().shard.count, nullptr);
  for (const Part& part : parts) {
    const Part*& place = ordered[part.shard.index - 1];
    if (place != nullptr) {
      refuse(fmt::format("shard {}/{} is there twice, {} and {}", part.shard.index, part.shard.count, place->path,
                         part.path));
    }
    place = &part;
  }
  const auto cells = parts.front().meta["finished"].at("cells").get<std::size_t>();
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i] == nullptr) {
      refuse(fmt::format("shard {}/{} is missing; run it, or give its file", i + 1, ordered.size()));
    }
    const std::size_t due = (cells + ordered.size() - 1 - i) / ordered.size();  // cells i, i + N, ... below `cells`
    if (ordered[i]->cells.size() != due) {
      refuse(fmt::format("{}: has {} where shard {}/{} of {} has {}; make it again", ordered[i]->path,
                         croquis::counted(ordered[i]->cells.size(), "cell"), i + 1, ordered.size(), cells, due));
    }
  }
  return ordered;
}

json merged_meta(const std::vector<const Part*>& parts, std::size_t rows, const std::string& out,
                 const std::string& digest) {
  json meta = parts.front()->meta;
  meta["identity"].erase("--shard");
  std::istringstream lines(meta.value("configuration", ""));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("shard=") && !line.starts_with("out=")) kept += line + '\n';
  }
  meta["configuration"] = kept;
  meta["rows_file"] = std::filesystem::path(out).filename().string();
  meta["finished"]["rows"] = rows;
  meta["finished"]["digest"] = digest;
  meta["finished"]["shard"] = "1/1";
  meta["finished"].erase("beside");  // of other files than those of the part
  meta["merged"] = json::array();
  for (const char* key : kOfOneRun) meta.erase(key);
  meta.erase("earlier");
  for (const Part* part : parts) {  // each has been made somewhere, at some time
    json one = {{"file", part->path}};
    for (const char* key : kOfOneRun) one[key] = part->meta[key];
    if (part->meta.contains("earlier")) one["earlier"] = part->meta["earlier"];
    meta["merged"].push_back(std::move(one));
  }
  return meta;
}

// Throws when a file of the result is one of the part.
void require_not_written(const std::string& part, const std::string& out) {
  std::vector<std::string> written = companions_of(out);
  written.insert(written.end(), {out, meta_file(out)});
  for (const std::string& from : {part, meta_file(part)}) {
    for (const std::string& to : written) {
      std::error_code absent;
      if (std::filesystem::equivalent(from, to, absent)) refuse(from + ": is a part and the result");
    }
  }
}

// Checks that the parts are all shards of one run, finished, before anything is written.
int run_merge(const MergeOptions& options) {
  require_replaceable(options.out);
  if (std::filesystem::exists(options.out) && !options.overwrite) {
    refuse(fmt::format("{}: is there already; --overwrite replaces it", options.out));
  }
  require_own_metadata(meta_file(options.out), options.out);
  std::vector<Part> parts;
  for (const std::string& path : options.parts) {
    require_not_written(path, options.out);
    try {
      parts.push_back(read_part(path));
    } catch (const json::exception&) {
      refuse(meta_file(path) + ": is missing or damaged");
    }
  }
  require_one_run(parts);
  const std::vector<const Part*> ordered = in_order(parts);

  croquis::CsvTable table{parts.front().table.header, {}};
  const auto cells = parts.front().meta["finished"].at("cells").get<std::size_t>();
  std::set<Row> seen;
  for (std::size_t i = 0; i < cells; ++i) {
    const Part& part = *ordered[i % ordered.size()];
    const PartCell& cell = part.cells[i / ordered.size()];
    if (!seen.insert(cell.key).second) {
      refuse(fmt::format("{}: {} is there twice", part.path, fmt::join(cell.key, ",")));
    }
    table.rows.insert(table.rows.end(), cell.rows.begin(), cell.rows.end());
  }
  const Command& command = command_named(parts.front().meta["identity"]["command"]);
  const croquis::Table typed = typed_table(table, command, parts.front().path);
  const Existing existing = options.overwrite ? Existing::overwrite : Existing::refuse;
  if (command.results.write_summary) {
    require_companions(options.out, {summary_file, heads_file, layers_file}, existing);
  }
  std::function<void()> write_others;
  if (command.results.merge_others) {
    require_companions(options.out, {draws_file}, existing);
    std::vector<std::string> paths;
    paths.reserve(ordered.size());
    for (const Part* part : ordered) paths.push_back(part->path);
    write_others = command.results.merge_others(paths, typed, options.out);
  }
  const std::string text = csv_text(table);
  if (options.overwrite) remove_companions(options.out);
  write_whole(options.out, text);
  const json meta = merged_meta(ordered, table.rows.size(), options.out, croquis::digest_of(text));
  write_whole(meta_file(options.out), croquis::json_text(meta, 2) + '\n');
  // What the run itself writes beside its rows.
  if (command.results.write_summary) command.results.write_summary(typed, options.out);
  if (write_others) write_others();
  fmt::print("rows     {}: {} of {} parts\n", options.out, table.rows.size(), parts.size());
  return 0;
}

}  // namespace

Command merge_command() {
  const auto options = std::make_shared<MergeOptions>();
  return {.name = "merge",
          .summary = "put the parts of a run with --shard together",
          .example = "croquis merge all.csv part1.csv part2.csv",
          .add_options =
              [options](CLI::App& app) {
                app.add_option("out", options->out, "OUT.csv: the rows of one run")->required();
                app.add_option("parts", options->parts, "PART.csv...: all shards of one run, in any order")->required();
                app.add_flag("--overwrite", options->overwrite, "start again if OUT.csv is there");
              },
          .run = [options](const CLI::App&, const std::string&) { return run_merge(*options); },
          .one_rank = true};
}
