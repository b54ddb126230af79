#include "files/run_options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/threads.hpp>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "files/environment.hpp"
#include "files/shard.hpp"
#include "pictures/gnuplot.hpp"

namespace {

// Files that one run writes are different files.
void require_different_files(const RunOptions& options) {
  const auto place = [](const std::string& path) {
    std::error_code error;
    const std::filesystem::path given = std::filesystem::absolute(path, error).lexically_normal();
    const std::filesystem::path found = std::filesystem::weakly_canonical(given, error);
    return error ? given : found;  // of a name that is too long; whoever opens the file says so
  };
  const std::pair<std::string, std::string> files[] = {{"--out", options.out},
                                                       {"--plot", options.plot},
                                                       {"the summary of --out", summary_file(options.out)},
                                                       {"the meta file of --out", meta_file(options.out)}};
  for (const auto& [name, path] : files) {
    for (const auto& [other_name, other] : files) {
      if (path.empty() || other.empty() || &name == &other_name || place(path) != place(other)) continue;
      throw std::invalid_argument(fmt::format("{}: {} would be {} too; give another name", name, path, other_name));
    }
  }
}

}  // namespace

void require_room_for_rows(double rows, const std::string& option, long long count) {
  constexpr double bytes_a_row = 2200;  // measured: keys in the plan and, at the end, all fields
  const double available = croquis::available_memory();
  if (rows * bytes_a_row <= available) return;
  throw std::invalid_argument(fmt::format(
      "{}: {:.0f} rows need {:.0f} bytes of memory, {:.0f} are available; {:.0f} would do", option, rows,
      rows * bytes_a_row, available, std::floor(static_cast<double>(count) * available / (rows * bytes_a_row))));
}

Existing existing_file(const RunOptions& options) {
  if (options.resume && options.overwrite) throw std::invalid_argument("--resume and --overwrite exclude each other");
  if (options.resume) return Existing::resume;
  return options.overwrite ? Existing::overwrite : Existing::refuse;
}

void prepare_run(const RunOptions& options) {
  require_different_files(options);
  const bool part = parse_shard(options.shard).count > 1;
  if (part && !options.plot.empty()) {
    throw std::invalid_argument("--plot: a shard has a part of the rows; merge the parts, then plot");
  }
  if (!options.plot.empty()) check_plot_name(options.plot);
  croquis::set_threads(options.threads);
  prepare_threads(croquis::threads());
  // Where the system gives no second thread, the run is refused and not its first cell, or claim, that needs one.
  croquis::parallel_for(2, [](std::size_t) {});
}
