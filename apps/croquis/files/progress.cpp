#include "files/progress.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <croquis/distributed/communicator.hpp>
#include <cstdio>

namespace {

std::atomic<bool> bar_is_drawn{false};

}  // namespace

void say(const std::string& text) {
  if (bar_is_drawn.exchange(false)) std::fputs("\r\x1b[K", stderr);
  std::fputs(text.c_str(), stderr);
}

void say_once(const std::string& text) {
  if (croquis::Communicator::world().rank() == 0) say(text);
}

Progress::Progress(std::size_t total, bool quiet)
    : total_(total),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      pause_(terminal_ ? Clock::duration(std::chrono::milliseconds(100)) : std::chrono::minutes(1)),
      last_(terminal_ ? start_ - pause_ : start_) {}

Progress::~Progress() {
  say("");
}

void Progress::show(std::size_t done, const std::string& what) {
  if (quiet_ || total_ == 0) return;
  const auto now = Clock::now();
  if (now - last_ < pause_) return;
  last_ = now;
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
  say(fmt::format("[{:=<{}}{:<{}}] {}/{}  {} left  {}", "", full, "", width - full, done, total_, left, what));
  bar_is_drawn = true;
  std::fflush(stderr);
}
