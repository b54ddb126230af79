// Limits of the system and of numbers: each is one line and status 2, and nothing hangs.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <croquis/io/csv.hpp>
#include <string>

#include "support/process.hpp"
#include "support/text.hpp"

namespace {

// As many cells as threads are tried.
const std::string kSmallLimits =
    "error --input gaussian --n 32 --p 4 --methods v-mean,skyformer --features 8 --trials 3000 --quiet ";

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which map terabytes
TEST_CASE("address spaces of any size: done, or one line and status 2, never a hang") {
  TemporaryFolder folder;
  bool done = false, refused = false;
  for (std::size_t megabytes = 80; megabytes <= 2000; megabytes += megabytes < 500 ? 20 : 250) {
    CAPTURE(megabytes);
    for (const char* threads : {"1", "2"}) {
      const ProgramRun run = run_process(words(kSmallLimits + "--overwrite --threads " + threads), folder.path(),
                                         {.memory = megabytes << 20, .seconds = 10});
      // Below this the loader cannot map the libraries.
      if (run.status == 127 && contains(run.output, "shared libraries")) continue;
      done = done || run.status == 0;
      refused = refused || run.status == 2;
      if (run.status != 0) check_refused(run, "croquis: ");
    }
  }
  CHECK(done);
  CHECK(refused);
}

TEST_CASE("a stack that commands would overflow: one line and status 2") {
  TemporaryFolder folder;
  const auto run = [&](std::size_t kilobytes) {
    return run_process(words("error --input gaussian --n 32 --p 4 --features 8 --trials 1 --quiet --overwrite"),
                       folder.path(), {.stack = kilobytes << 10, .seconds = 20});
  };
  for (const std::size_t kilobytes : {64U, 128U, 511U}) {
    check_refused(run(kilobytes), fmt::format("a stack of {} KiB is less than croquis needs", kilobytes));
  }
  CHECK(run(512).status == 0);
}

TEST_CASE("more threads than the system gives: one line and status 2") {
  TemporaryFolder folder;
  const ProgramRun run = run_process(words(kSmallLimits + "--threads 3000"), folder.path(),
                                     {.memory = std::size_t{8} << 30, .seconds = 20});
  check_refused(run, "threads");
}

#ifndef __clang__  // the sizes as GCC's OpenMP reads them; LLVM's reads some otherwise and has lines of its own
TEST_CASE("stacks that no thread can have: one line and status 2, and never the status of a verdict") {
  TemporaryFolder folder;
  const auto run = [&](const std::string& command, const char* name, const char* size) {
    return run_process(words(command + "--threads 2 --quiet --overwrite"), folder.path(),
                       {.environment = {{name, size}}, .seconds = 20});
  };
  // 200000 GiB are more than the 2^47 bytes that a process can address.
  for (const std::string command : {"error --input gaussian --n 32 --p 4 --features 8 --trials 3 --out s.csv ",
                                    "verify --claims sky.lift --quick --out s.csv "}) {
    for (const char* size : {"200000G", "204800000 m", " +200000G"}) {
      check_refused(run(command, "OMP_STACKSIZE", size), std::string("OMP_STACKSIZE=") + size);
    }
    for (const char* size : {"16k", "16384B", "20", "64k", "128k", "511k"}) {
      check_refused(run(command, "OMP_STACKSIZE", size), std::string("OMP_STACKSIZE=") + size);
    }
    // Less than the system's least is ignored.
    for (const char* size :
         {"16383B", "512k", "64M", "x", "64kb", "-5", "1e3", "18446744073709551616", "18014398509481984k"}) {
      CAPTURE(size);  // large enough, or ignored
      CHECK(run(command, "OMP_STACKSIZE", size).status == 0);
    }
  }
}
#endif
#endif

TEST_CASE("a cell that is asked for twice, in any spelling: one line and status 2, never rows without end") {
  TemporaryFolder folder;
  for (const char* command :
       {"error --input gaussian --n 16 --p 4 --features 4 --trials 2 --methods skyformer,skyformer:preset=paper",
        "gradient --input gaussian --n 16 --p 4 --features 4 --trials 2 --methods performer,performer:preset=paper",
        "cost --n 16 --p 4 --features 4 --repeats 1 --methods performer,performer:preset=paper",
        "variance --p 4 --keys 8 --features 4 --trials 2 --norms 1,1.0",
        "dimension --input gaussian --n 16 --p 4 --trials 2 --norms 1,1.0",
        "dimension --input gaussian --n 16 --p 4 --trials 2 --widths 1,2,1.0",
        "dimension --input gaussian --n 16 --p 4 --trials 2 --epsilons 0.1,0.5,1e-1"}) {
    CAPTURE(command);
    check_refused(run_process(words(std::string(command) + " --quiet"), folder.path(), {.seconds = 10}), "twice");
  }
}

TEST_CASE("whole numbers: decimal digits in the range, anything else is refused and never another number") {
  TemporaryFolder folder;
  for (const char* seed :
       {"010", "0x10", "18446744073709551616", "99999999999999999999999", "-1", "+1", "1e3", " 1", "1.0"}) {
    CAPTURE(seed);
    check_refused(run_process({"error", "--n", "32", "--seed", seed}, folder.path()), "--seed");
  }
  for (const std::string option : {"--trials", "--n", "--threads"}) {
    for (const char* value : {"010", "0x10", "1.5", "18446744073709551617"}) {
      check_refused(run_process({"error", option, value}, folder.path()), option);
    }
  }
  const ProgramRun largest =
      run_process(words(kSmallLimits + "--out s.csv --seed 18446744073709551615"), folder.path());
  CHECK_MESSAGE(largest.status == 0, largest.output);
  CHECK(contains(read_text(folder / "s.csv"), ",18446744073709551615,"));
}

TEST_CASE("more rows than memory holds are refused with the number that would do") {
  TemporaryFolder folder;
  const ProcessSettings settings{.seconds = 20};
  for (const std::string command :
       {"error --n 32 --p 4 --methods all --features 2,4,8,16 --trials 10000000",
        "variance --maps all --projections all --trials 10000000", "sketch --n 32 --p 4 --trials 10000000",
        "cost --n 32 --methods all --features 2,4,8,16 --repeats 10000000"}) {
    CAPTURE(command);
    const ProgramRun run = run_process(words(command), folder.path(), settings);
    check_refused(run, "rows need");
    CHECK(contains(run.output, "would do"));
  }
}

TEST_CASE("--config: repeated options, sections within sections and lines that are no option are named by line") {
  TemporaryFolder folder;
  const auto check = [&](const std::string& text, const std::string& reason) {
    write_text(folder / "c.ini", text);
    CAPTURE(text.substr(0, 80));
    const ProgramRun run = run_process({"--config", "c.ini", "error", "--quiet"}, folder.path(),
                                       {.memory = std::size_t{1500} << 20, .seconds = 10});
    check_refused(run, reason);
  };
  check("[error]\nn=32\np=4\nn=64\n", "line 4 gives n a second time");
  check("[error]\nn=32\n[error]\nn=64\n", "line 4 gives n a second time");
  check("[error.a]\nn=32\n", "line 1 is not [COMMAND]");
  check("[[error]]\nn=32\n", "line 1 is not [COMMAND]");
  check("[eror]\nn=32\n", "[eror]: there is no command 'eror'");
  check("n=32\n", "'n' has no command; options stand below a line with theirs, such as [error]");
  check("[error]\nfeature=32\n", "'error.feature' is unknown; did you mean --features?");
  check("[error]\nfeatures=8 16\n",
        "--features: has 2 values and takes one; give it once, and a list with commas, as 8,16");
  check("[error]\na.b.c=32\n", "line 2 is not OPTION=VALUE");
  check("[error]\nn=32\nhelp=true\n", "line 3: --help is for the command line alone");
  check("\xef\xbb\xbf[error]\nn=32\n", "c.ini begins with a byte order mark; save it without one");
  check("help\n", "line 1: --help is for the command line alone");
  check("error.version=true\n", "line 1: --version is for the command line alone");
  check("config=\"other.ini\"\n", "line 1: --config is for the command line alone");
  std::string nested = "[a";
  for (int i = 0; i < 8000; ++i) nested += ".a";
  check(nested + "]\nn=1\n", "line 1 is not [COMMAND]");
  check(std::string(8000, '[') + "\n", "line 1 is not [COMMAND]");
  write_text(folder / "good.ini",
             "# what was run\n[error]\ninput=gaussian\nn=32\np = 4\nmethods=\"v-mean\"\nfeatures=\"8\"\nquiet=true\n");
  const ProgramRun run = run_process({"--config", "good.ini", "error"}, folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
}

TEST_CASE("what cannot be written is said: --version to a full device, files that may not grow, closed streams") {
  TemporaryFolder folder;
  for (const char* what : {"--version", "--help", "list methods"}) {
    const ProgramRun run = run_croquis(fmt::format("{} 2>&1 >/dev/full #", what), folder.path());
    check_refused(run, "standard output cannot be written");
  }
  const ProgramRun limited = run_process(words(kSmallLimits + "--out l.csv"), folder.path(), {.largest_file = 1100});
  check_refused(limited, "l.");
  // Results must not be taken for the streams that the program prints to.
  for (const char* closed : {">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    CAPTURE(closed);
    const std::string table =
        "error --input gaussian --n 32 --p 4 --methods v-mean --features 8 --overwrite --out c.csv ";
    CHECK(run_croquis(table + closed, folder.path()).status == 0);
    CHECK(croquis::read_csv((folder / "c.csv").string()).rows.size() == 1);
  }
}

TEST_CASE("a picture is drawn before the tables are printed, and is there where they cannot be") {
  TemporaryFolder folder;
  // Tables of all methods are longer than what a stream keeps, so that printing them fails, and not its end.
  const ProgramRun run = run_croquis(
      "error --input gaussian --n 32 --p 4 --features 1:32 --trials 1 --out e.csv --plot e.svg 2>&1 >/dev/full #",
      folder.path());
  check_refused(run, "standard output cannot be written: ");
  CHECK(std::filesystem::exists(folder / "e.summary.csv"));
  CHECK(contains(read_text(folder / "e.svg"), "</svg>"));
}
