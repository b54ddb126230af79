// Where results go: a disk that fills up, a folder that is not there, a file that another run is writing.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <croquis/io/csv.hpp>
#include <csignal>
#include <functional>
#include <set>
#include <thread>

#include "support/process.hpp"
#include "support/text.hpp"

namespace {

const std::string kCommand =
    "error --n 64 --p 8 --methods v-mean,skyformer,performer --features 8,16 --trials 10 --quiet --plot e.svg --out "
    "e.csv --resume";

std::ptrdiff_t lines_in(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

// What a run on too little room has left: whole rows of the run with room, and whole other files or none.
void check_what_is_left(const std::filesystem::path& folder, const TemporaryFolder& reference) {
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    CAPTURE(name);
    CHECK((name == "e.csv" || name == "e.meta.json" || name == "e.summary.csv" || name == "e.svg"));
  }
  if (std::filesystem::exists(folder / "e.csv") && !read_text(folder / "e.csv").empty()) {
    CHECK(read_text(folder / "e.csv").ends_with('\n'));
    // In the order in which they were finished; a run that ends puts them into that of its cells.
    auto rows = rows_of(folder / "e.csv"), all = rows_of(reference / "e.csv");
    std::sort(rows.begin(), rows.end());
    std::sort(all.begin(), all.end());
    CHECK(std::includes(all.begin(), all.end(), rows.begin(), rows.end()));
  }
  for (const char* name : {"e.summary.csv", "e.svg"}) {
    if (std::filesystem::exists(folder / name)) CHECK(read_text(folder / name) == read_text(reference / name));
  }
}

// Runs on ever more room, until it is enough; after each failure goes on with room.
void fill_up(const std::filesystem::path& folder, std::size_t step, const std::string& reason,
             const std::function<ProgramRun(std::size_t room)>& run_on,
             const std::function<ProgramRun()>& run_with_room) {
  TemporaryFolder reference;
  REQUIRE(run_process(words(kCommand), reference.path()).status == 0);
  std::set<std::string> failed;  // files
  ProgramRun run;
  for (std::size_t room = 0; run.status != 0; room += step) {
    CAPTURE(room);
    REQUIRE(room <= 64 * step);
    run = run_on(room);
    check_what_is_left(folder, reference);
    if (run.status != 0) {
      CHECK(run.status == 2);
      CHECK_MESSAGE(lines_in(run.output) == 1, run.output);
      CHECK_MESSAGE((contains(run.output, reason) || contains(run.output, "e.svg: not drawn")), run.output);
      failed.insert(run.output.substr(0, run.output.find(": ", 9)));
      const ProgramRun resumed = run_with_room();
      CHECK_MESSAGE(resumed.status == 0, resumed.output);
    }
    CHECK(rows_of(folder / "e.csv") == rows_of(reference / "e.csv"));
    CHECK(read_text(folder / "e.svg") == read_text(reference / "e.svg"));
    for (const auto& file : std::filesystem::directory_iterator(folder)) std::filesystem::remove(file.path());
  }
  CHECK(failed.contains("croquis: e.csv"));
  CHECK(failed.contains("croquis: e.svg"));
}

// A file system in memory, of this thread and its children alone. Needs root.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& folder) : folder_(folder.string()) {
    mounted_ = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("none", folder_.c_str(), "tmpfs", 0, "size=4k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  void resize(std::size_t bytes) const {
    const std::string size = "size=" + std::to_string(bytes);
    REQUIRE(::mount("none", folder_.c_str(), "tmpfs", MS_REMOUNT, size.c_str()) == 0);
  }

 private:
  std::string folder_;
  bool mounted_ = false;
};

}  // namespace

TEST_CASE("files that may not grow: one line that names the file, status 2, rows so far kept; --resume does the rest") {
  TemporaryFolder folder;
  fill_up(
      folder.path(), 1500, "File too large",
      [&](std::size_t room) {
        // LLVM's OpenMP runtime has a file of a kilobyte in /dev/shm, and gives up without it.
        return run_process(words(kCommand), folder.path(), {.largest_file = room + 1024});
      },
      [&] { return run_process(words(kCommand), folder.path()); });
}

TEST_CASE("a disk that fills up: one line that names the file, status 2, rows so far kept; --resume does the rest") {
  TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.mounted()) {
    MESSAGE("no right to mount; the test before has failing writes all the same");
    return;
  }
  constexpr std::size_t page = 4096, enough = 1 << 20;
  fill_up(
      folder.path(), page, "No space left on device",
      [&](std::size_t room) {
        disk.resize(room + page);
        return run_process(words(kCommand), folder.path());
      },
      [&] {
        disk.resize(enough);
        return run_process(words(kCommand), folder.path());
      });
}

TEST_CASE("a result that cannot be there: one line that names it, status 2") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder.csv");
  std::filesystem::create_directory(folder / "closed");
  write_text(folder / "file", "a file\n");
  write_text(folder / "read-only.csv", "a,b\n1,2\n");
  std::filesystem::permissions(folder / "read-only.csv", std::filesystem::perms::owner_read);
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::owner_read);
  const std::string small = "error --n 32 --p 4 --methods v-mean --quiet --features 8 --out ";
  std::vector<std::pair<const char*, const char*>> cases = {
      {"missing/e.csv", "No such file or directory"},
      {"file/e.csv", "Not a directory"},
      {"folder.csv", "not a regular file"},
      {"/dev/full", "not a regular file"},
      {"/dev/null", "not a regular file"},
      {"/proc/e.csv", "No such file or directory"},
  };
  if (::geteuid() != 0) {  // root writes everywhere
    cases.emplace_back("read-only.csv", "Permission denied");
    cases.emplace_back("closed/e.csv", "Permission denied");
  }
  for (const auto& one : cases) {
    const std::string out = one.first, reason = one.second;
    for (const char* how : {"", " --resume", " --overwrite"}) {
      CAPTURE(out + how);
      const ProgramRun run = run_process(words(small + out + how), folder.path());
      CHECK(run.status == 2);
      CHECK(lines_in(run.output) == 1);
      CHECK_MESSAGE(contains(run.output, out + ": cannot be written: "), run.output);
      CHECK_MESSAGE(contains(run.output, reason), run.output);
    }
  }
  CHECK(read_text(folder / "read-only.csv") == "a,b\n1,2\n");
  // A picture is drawn last, and its folder looked at first.
  const ProgramRun plot = run_process(words(small + "p.csv --plot /proc/p.svg"), folder.path());
  CHECK(plot.status == 2);
  CHECK_MESSAGE(contains(plot.output, "/proc/p.svg: cannot be written: "), plot.output);
  CHECK_FALSE(std::filesystem::exists(folder / "p.csv"));
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::owner_all);
  const ProgramRun list = run_croquis("list methods 2>&1 >/dev/full #", folder.path());
  CHECK(list.status == 2);
  CHECK(lines_in(list.output) == 1);
  CHECK(run_croquis("list nothing 2>/dev/full #", folder.path()).status == 2);
}

TEST_CASE("two runs on one file: the second is refused in one line, whatever it wants, and the first goes on") {
  TemporaryFolder folder;
  const std::string line = "error --n 64 --p 8 --methods v-mean,performer --features 8,16 --trials 900000 --quiet ";
  Process first(words(line + "--out e.csv"), folder.path());
  while (!std::filesystem::exists(folder / "e.csv") || read_text(folder / "e.csv").size() < 5000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::string meta = read_text(folder / "e.meta.json");
  for (const std::string how : {"", "--resume", "--overwrite", "--overwrite --seed 2"}) {
    CAPTURE(how);
    const ProgramRun second = run_process(words(line + "--out e.csv " + how), folder.path(), {.seconds = 10});
    CHECK(second.status == 2);
    CHECK(second.output == "croquis: e.csv: another run is writing it; wait for it or give another --out\n");
  }
  const std::size_t before = read_text(folder / "e.csv").size();
  while (read_text(folder / "e.csv").size() < before + 5000) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  first.send(SIGTERM);
  CHECK(first.wait().status == 128 + SIGTERM);
  CHECK(read_text(folder / "e.meta.json") == meta);
  const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
  std::set<std::pair<std::string, std::string>> trials;
  for (const auto& row : table.rows) {
    CHECK(row[table.column("seed")] == "1");
    trials.emplace(row[table.column("method")] + row[table.column("features")], row[table.column("trial")]);
  }
  CHECK(trials.size() == table.rows.size());
}
