// The progress that a user sees on a terminal.
#include <doctest/doctest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <regex>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/text.hpp"

namespace {

// What croquis writes to a terminal. It is killed once it has written `last` three times.
std::string on_terminal(const std::string& arguments, const TemporaryFolder& folder, const std::string& last = "") {
  std::vector<std::string> all = words(CROQUIS_PROGRAM " " + arguments);
  std::vector<char*> pointers;
  for (std::string& argument : all) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const std::string path = folder.path().string();
  int terminal = -1;
  const pid_t id = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (id == 0) {
    if (::chdir(path.c_str()) == 0) ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  REQUIRE(id > 0);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
    if (!last.empty() && count_of(text, last) >= 3) ::kill(id, SIGKILL);
  }
  ::close(terminal);
  int status = 0;
  REQUIRE(::waitpid(id, &status, 0) == id);
  REQUIRE_MESSAGE((status == 0 || !last.empty()), text);
  return text;
}

const std::string kErase = "\r\x1b[K";
const std::string kShown = " --input gaussian --n 32 --p 4 --methods v-mean --features 4 --overwrite ";

}  // namespace

TEST_CASE("progress: a bar while heads are read and before the first result, and none is left behind") {
  const TemporaryFolder folder;
  for (const std::string command : {"error", "gradient", "choose"}) {
    CAPTURE(command);
    const std::string text = on_terminal(command + kShown, folder);
    CHECK_MESSAGE(contains(text, "0/1  --:-- left  heads read" + kErase), text);
    CHECK_MESSAGE(contains(text, "0/1  --:-- left  preparing" + kErase), text);
    CHECK_MESSAGE(count_of(text, " left  ") == count_of(text, kErase), text);
  }
  // What is said meanwhile stands in a line of its own.
  CHECK(contains(on_terminal("choose" + kShown, folder), kErase + "croquis choose: 1 choice"));
  // Of one head too.
  CHECK(contains(on_terminal("sketch --input gaussian --n 32 --p 4 --sketches srht --features 4 --trials 1", folder),
                 "heads read"));
}

TEST_CASE("progress: it is shown again while one cell takes long") {
  const TemporaryFolder folder;
  const std::string bar = "0/1  --:-- left  b";
  // All singular values take a minute or so.
  const std::string text = on_terminal("spectrum --input gaussian --n 4000 --p 4 --matrices b", folder, bar);
  CHECK_MESSAGE(count_of(text, bar) >= 3, text);
}

TEST_CASE("progress: what is left is the time so far, by the part that is left over the part that is done") {
  const TemporaryFolder folder;
  const auto start = std::chrono::steady_clock::now();
  const std::string text = on_terminal(
      "error --input gaussian --n 1024 --p 32 --methods performer --features 32 --trials 2000 --threads 2", folder);
  // A second or two: no less than the time so far of any bar, and as much as that of the last ones.
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  static const std::regex bar("(\\d+)/(\\d+)  (\\d+):(\\d+) left");
  for (std::sregex_iterator match(text.begin(), text.end(), bar), end; match != end; ++match) {
    const double done = std::stod((*match)[1]) / std::stod((*match)[2]);
    CAPTURE(done);
    CHECK(60 * std::stod((*match)[3]) + std::stod((*match)[4]) <= seconds * (1 - done) / done);
  }
}

TEST_CASE("progress: none with --quiet, and none where there is no terminal") {
  const TemporaryFolder folder;
  for (const std::string command : {"error", "choose"}) {
    CAPTURE(command);
    CHECK_FALSE(contains(on_terminal(command + kShown + "--quiet", folder), "\x1b"));
    CHECK_FALSE(contains(run_process(words(command + kShown), folder.path()).output, " left  "));
  }
}
