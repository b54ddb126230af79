#include "files/progress.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <croquis/distributed/communicator.hpp>
#include <cstdio>

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

void say_once(const std::string& text) {
  if (croquis::Communicator::world().rank() == 0) say(text);
}

Progress::Progress(std::size_t total, bool quiet)
    : total_(total), quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_ && terminal_) say("\r\x1b[K");
}

void Progress::show(std::size_t done, const std::string& what) {
  if (quiet_ || total_ == 0) return;
  const auto now = Clock::now();
  const auto pause =
      terminal_ ? Clock::duration(std::chrono::milliseconds(100)) : Clock::duration(std::chrono::minutes(1));
  if (now - last_ < pause) return;
  last_ = now;
  drawn_ = true;
  const double fraction = static_cast<double>(done) / static_cast<double>(total_);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  std::string left = "--:--";
  if (done > 0) {
    const auto seconds = static_cast<long>(elapsed * (1 - fraction) / fraction);
    left = fmt::format("{:02}:{:02}", seconds / 60, seconds % 60);
  }
  if (!terminal_) {
    say(fmt::format("{} of {} done, {} left, {}\n", done, total_, left, what));
    return;
  }
  constexpr int width = 30;
  const int full = static_cast<int>(fraction * width);
  say(fmt::format("\r\x1b[K[{:=<{}}{:<{}}] {}/{}  {} left  {}", "", full, "", width - full, done, total_, left, what));
  std::fflush(stderr);
}
