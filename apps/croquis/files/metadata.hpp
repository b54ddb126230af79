// X.meta.json beside X.csv: what is needed to obtain the rows again.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "files/companions.hpp"
#include "files/shard.hpp"

/// What a meta file says of one run that made rows.
inline constexpr const char* kOfOneRun[] = {"command_line", "environment", "threads", "utc"};

/// What a finished run has in its file: what `croquis merge` needs to know of a part.
struct Finished {
  std::size_t rows = 0, cells = 0;        ///< rows of the file, cells of the whole run
  std::vector<std::string> cell_columns;  ///< with the same values in all rows of a cell
  Shard shard;
  std::string digest;  ///< of the file's bytes
};

struct RunDescription {
  std::string command_line;
  std::string configuration;                    ///< the effective configuration, in the format that --config reads
  std::map<std::string, std::string> identity;  ///< what every row depends on: a resumed run must have the same
  std::uint64_t seed = 0;
  int threads = 0;
  std::string rows_file;                  ///< name of the file with the rows, in the folder of the meta file
  bool edited = false;                    ///< the file was changed by others before the run went on with it
  std::optional<Finished> finished = {};  ///< once it is
  bool computes = true;                   ///< false: all rows were there, and how they were made is known already
  std::string earlier = {};               ///< earlier_runs() of the result that it goes on with
  std::time_t start = std::time(nullptr);
};

/// Writes the meta file of a result. Of a run that computes nothing it leaves the command, the configuration, the
/// environment and the time in the file as they are: they say how the rows were made. Throws std::runtime_error when it
/// cannot be written.
void write_metadata(const std::string& path, const RunDescription& run);

/// What a meta file has; discarded when there is no such file, or when it is no JSON object that a run could have
/// written.
nlohmann::json read_metadata(const std::string& path);

/// How the rows were made that stand beside the meta file at `path`, as a JSON array with an object for each run,
/// oldest first: parts that were merged, and runs that --resume went on with, of those that differ in their time alone
/// the first. Empty where nothing is known.
std::string earlier_runs(const std::string& path);

/// Appends each run of a list of them in a meta file, and before a merged part the runs that it went on with itself.
void add_runs(const nlohmann::json& list, std::vector<nlohmann::json>& runs);

/// A text of an identity where it differs from another: lists of many heads are long.
std::string about_difference(const std::string& text, const std::string& other);

/// What the meta file beside the rows at `path` says that they depend on; nothing where there is none.
std::map<std::string, std::string> identity_of_run(const std::string& path);

/// A sentence where the rows at `path` are not those of the finished run in the meta file beside them, or where that
/// run went on with rows that were not; otherwise, and where nothing is known of the run, nothing.
std::string change_since_run(const std::string& path);

/// A sentence where some of these earlier_runs(), which made the rows at `path`, were of another version or commit of
/// the program than this one; otherwise nothing.
std::string other_programs(const std::string& path, const std::string& earlier);

/// Adds digests of files beside the rows at `out`, by the ends of their names, to the meta file of a finished run, so
/// that read_as_written() knows them. Throws std::runtime_error when it cannot be written.
void note_companions(const std::string& out, const std::vector<Companion>& companions);

/// The bytes of the file that stands beside the rows at `out`. Throws std::invalid_argument when it cannot be read,
/// when the meta file has no digest of it, and when it is not as its run wrote it.
std::string read_as_written(const std::string& out, Companion companion);

/// That results are missing, and what would do, where the rows at `path` are those of a run that has not finished or of
/// a part of one; otherwise, and where nothing is known of the run, nothing.
std::string incomplete_run(const std::string& path);

/// Throws std::invalid_argument when the file at `path` is no meta file, or that of another result than `rows`: those
/// of a.csv and of a have one name.
void require_own_metadata(const std::string& path, const std::string& rows);

/// Throws std::invalid_argument, naming what differs, unless the meta file at `path` has the same identity.
void require_same_identity(const std::string& path, const RunDescription& run);
