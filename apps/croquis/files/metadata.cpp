#include "files/metadata.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <croquis/io/digest.hpp>
#include <croquis/io/json.hpp>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "files/companions.hpp"
#include "files/environment.hpp"
#include "files/whole_file.hpp"

namespace {
using nlohmann::json;

// The member of `finished` that has the digests of files beside the rows.
constexpr const char* kBeside = "beside";

// null where there is none.
json member(const json& value, const std::string& name) {
  return value.is_object() ? value.value(name, json()) : json();
}

std::map<std::string, std::string> identity_in(const json& meta) {
  std::map<std::string, std::string> texts;
  const json identity = member(meta, "identity");
  if (!identity.is_object()) return texts;
  for (const auto& [name, value] : identity.items()) {
    texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return texts;
}

json environment_now() {
  json environment = json::object();
  // "key: value" lines of --version
  const std::string text = environment_text();
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    const std::string line = text.substr(start, end - start);
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) environment[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return environment;
}

// A job that is stopped and continued again and again is there once.
bool has_but_for_its_time(const json& runs, const json& run) {
  return std::any_of(runs.begin(), runs.end(), [&](json one) {
    if (one.is_object()) one["utc"] = member(run, "utc");
    return one == run;
  });
}

// What a companion's name ends in, which is the same after all files of a result were renamed together.
std::string end_of(Companion companion) {
  return companion("");
}

std::string otherwise(const std::string& path, const std::string& out) {
  return fmt::format("{}: is not as its run wrote it: {} says otherwise", path, meta_file(out));
}

}  // namespace

std::string about_difference(const std::string& text, const std::string& other) {
  constexpr std::size_t longest = 200, before = 60;
  if (text.size() <= longest && other.size() <= longest) return text;
  const auto same = static_cast<std::size_t>(std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first -
                                             text.begin());
  const std::size_t begin = same > before ? same - before : 0;
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", text.substr(begin, longest),
                     text.size() - begin > longest ? "..." : "");
}

// What is nested without end would overflow the stack when it is written again.
json read_metadata(const std::string& path) {
  try {
    return croquis::parse_json_object(croquis::read_bytes(path), path, "is no meta file");
  } catch (const std::invalid_argument&) {
    return json(json::value_t::discarded);
  }
}

void write_metadata(const std::string& path, const RunDescription& run) {
  json meta = run.computes ? json::object() : read_metadata(path);
  if (run.computes || !meta.is_object()) {
    meta = json::object();
    meta["command_line"] = run.command_line;
    meta["configuration"] = run.configuration;
    meta["threads"] = run.threads;
    meta["utc"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(run.start));
    meta["environment"] = environment_now();
    if (!run.earlier.empty()) meta["earlier"] = json::parse(run.earlier);
  }
  meta["identity"] = run.identity;
  meta["seed"] = run.seed;
  meta["rows_file"] = run.rows_file;
  if (run.edited) meta["edited"] = true;
  meta.erase("finished");
  if (run.finished) {
    const Finished& done = *run.finished;
    meta["finished"] = {{"rows", done.rows},
                        {"cells", done.cells},
                        {"cell_columns", done.cell_columns},
                        {"digest", done.digest},
                        {"shard", fmt::format("{}/{}", done.shard.index, done.shard.count)}};
  }
  write_whole(path, croquis::json_text(meta, 2) + '\n');
}

std::string earlier_runs(const std::string& path) {
  const json meta = read_metadata(path);
  json runs = json::array();
  for (const char* group : {"earlier", "merged"}) {
    const json of_group = member(meta, group);
    if (of_group.is_array()) runs.insert(runs.end(), of_group.begin(), of_group.end());
  }
  json last = json::object();
  for (const char* key : kOfOneRun) {
    if (const json value = member(meta, key); !value.is_null()) last[key] = value;
  }
  if (!last.empty() && !has_but_for_its_time(runs, last)) runs.push_back(std::move(last));
  return runs.empty() ? "" : croquis::json_text(runs, 2);
}

void add_runs(const json& list, std::vector<json>& runs) {
  if (!list.is_array()) return;
  for (const json& run : list) {
    if (!run.is_object()) continue;
    add_runs(member(run, "earlier"), runs);
    runs.push_back(run);
  }
}

std::map<std::string, std::string> identity_of_run(const std::string& path) {
  return identity_in(read_metadata(meta_file(path)));
}

std::string incomplete_run(const std::string& path) {
  const json meta = read_metadata(meta_file(path));
  if (!meta.is_object() || !meta.contains("identity")) return "";
  if (!meta.contains("finished") || !meta["finished"].is_object()) {
    return fmt::format("{}: its run has not finished, and results are missing; its command with --resume continues it",
                       path);
  }
  const json shard = meta["finished"].value("shard", json("1/1"));
  if (!shard.is_string() || shard == "1/1") return "";
  return fmt::format("{}: part {} of a run, and results are missing; croquis merge puts the parts together", path,
                     shard.get<std::string>());
}

std::string change_since_run(const std::string& path) {
  const json meta = read_metadata(meta_file(path));
  if (member(meta, "edited") == true) {
    return fmt::format("{}: was changed before its run was continued: {} says so", path, meta_file(path));
  }
  const json digest = member(member(meta, "finished"), "digest");
  if (!digest.is_string() || digest == croquis::digest_of(croquis::read_bytes(path))) return "";
  return otherwise(path, path);
}

std::string other_programs(const std::string& path, const std::string& earlier) {
  const auto program_of = [](const json& environment) {
    const auto text = [&](const char* key) {
      const json value = member(environment, key);
      return value.is_string() ? value.get<std::string>() : std::string("unknown");
    };
    return fmt::format("{} (commit {})", text("croquis"), text("commit"));
  };
  if (earlier.empty()) return "";
  const std::string own = program_of(environment_now());
  std::vector<json> runs;
  add_runs(json::parse(earlier), runs);
  std::set<std::string> others;
  for (const json& run : runs) others.insert(program_of(member(run, "environment")));
  others.erase(own);
  if (others.empty()) return "";
  return fmt::format("{}: has rows of croquis {}, whose draws may be others than those of {}", path,
                     fmt::join(others, " and "), own);
}

void note_companions(const std::string& out, const std::vector<Companion>& companions) {
  json meta = read_metadata(meta_file(out));
  if (!member(meta, "finished").is_object()) return;  // somebody has changed it meanwhile
  json& beside = meta["finished"][kBeside];
  for (const Companion companion : companions) {
    beside[end_of(companion)] = croquis::digest_of(croquis::read_bytes(companion(out)));
  }
  write_whole(meta_file(out), croquis::json_text(meta, 2) + '\n');
}

std::string read_as_written(const std::string& out, Companion companion) {
  const std::string path = companion(out);
  std::string bytes = croquis::read_bytes(path);
  const json digests = member(member(read_metadata(meta_file(out)), "finished"), kBeside);
  const json digest = member(digests, end_of(companion));
  if (!digest.is_string()) {
    throw std::invalid_argument(
        fmt::format("{}: {} has no digest of it, as of a run that was killed at its end, whose command with --resume "
                    "adds it, or of version 1.1, whose choices are to be made again",
                    path, meta_file(out)));
  }
  if (digest == croquis::digest_of(bytes)) return bytes;
  throw std::invalid_argument(otherwise(path, out) + "; make it again");
}

void require_own_metadata(const std::string& path, const std::string& rows) {
  const json meta = read_metadata(path);
  std::error_code error;
  const bool is_of_run = meta.is_object() && meta.contains("identity");
  if (!is_of_run && std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > 0) {
    throw std::invalid_argument(
        fmt::format("{}: is there and is no meta file of a run, or damaged; move it, or give another --out", path));
  }
  if (!is_of_run || !meta.contains("rows_file") || !meta["rows_file"].is_string()) return;
  const std::filesystem::path given(rows), owner = given.parent_path() / meta["rows_file"].get<std::string>();
  // A file that was renamed together with its meta file has another owner in it, which has another meta file.
  if (owner == given || meta_file(owner.string()) != path || !std::filesystem::exists(owner, error)) return;
  throw std::invalid_argument(
      fmt::format("{}: its meta file would be that of {}, {}; give another name", rows, owner.string(), path));
}

void require_same_identity(const std::string& path, const RunDescription& run) {
  const json meta = read_metadata(path);
  if (!member(meta, "identity").is_object()) {
    throw std::invalid_argument(
        fmt::format("{}: is missing or damaged, so --resume cannot tell whether the rows fit; use --overwrite", path));
  }
  std::map<std::string, std::string> before = identity_in(meta), now = run.identity;
  for (const auto& [key, value] : before) now.emplace(key, "nothing");
  for (const auto& [key, value] : now) {
    const std::string earlier = before.emplace(key, "nothing").first->second;
    if (croquis::json_text(earlier) != croquis::json_text(value)) {
      throw std::invalid_argument(fmt::format("--resume: {} was {} and is {} now; give the same, or another --out", key,
                                              about_difference(earlier, value), about_difference(value, earlier)));
    }
  }
}
