#include "files/progress.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <croquis/distributed/communicator.hpp>
#include <cstdio>
#include <new>
#include <system_error>
#include <utility>

namespace {

std::mutex speaking;
bool bar_is_drawn = false;

void write_error(const std::string& text, bool is_bar) {
  const std::lock_guard lock(speaking);
  if (std::exchange(bar_is_drawn, is_bar)) std::fputs("\r\x1b[K", stderr);
  std::fputs(text.c_str(), stderr);
  if (is_bar) std::fflush(stderr);
}

}  // namespace

void say(const std::string& text) {
  write_error(text, false);
}

void say_once(const std::string& text) {
  if (croquis::Communicator::world().rank() == 0) say(text);
}

Progress::Progress(std::size_t total, bool quiet)
    : total_(total),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      pause_(terminal_ ? Clock::duration(std::chrono::milliseconds(100)) : std::chrono::minutes(1)),
      again_(terminal_ ? Clock::duration(std::chrono::seconds(1)) : pause_),
      last_(terminal_ ? start_ - pause_ : start_) {}

Progress::~Progress() {
  repeater_ = {};
  say("");
}

void Progress::show(std::size_t done, const std::string& what) {
  if (quiet_ || total_ == 0) return;
  const std::lock_guard lock(showing_);
  done_ = done;
  what_ = what;
  if (Clock::now() - last_ >= pause_) draw();
  if (repeater_.joinable()) return;
  try {
    repeater_ = std::jthread([this](const std::stop_token& ended) { draw_again(ended); });
  } catch (const std::system_error&) {  // no thread for it: then it is shown at the ends of steps
  }
}

void Progress::draw_again(const std::stop_token& ended) {
  std::unique_lock lock(showing_);
  while (!ended.stop_requested()) {
    waiting_.wait_until(lock, ended, last_ + again_, [] { return false; });
    if (ended.stop_requested() || Clock::now() - last_ < again_) continue;
    try {
      draw();
    } catch (const std::bad_alloc&) {  // no memory for it, and none of the run's concern
    }
  }
}

void Progress::draw() {
  last_ = Clock::now();
  const double fraction = static_cast<double>(done_) / static_cast<double>(total_);
  const double elapsed = std::chrono::duration<double>(last_ - start_).count();
  std::string left = "--:--";
  if (done_ > 0) {
    const auto seconds = static_cast<long>(elapsed * (1 - fraction) / fraction);
    left = fmt::format("{:02}:{:02}", seconds / 60, seconds % 60);
  }
  if (!terminal_) {
    say(fmt::format("{} of {} done, {} left, {}\n", done_, total_, left, what_));
    return;
  }
  constexpr int width = 30;
  const int full = static_cast<int>(fraction * width);
  write_error(fmt::format("[{:=<{}}{:<{}}] {}/{}  {} left  {}", "", full, "", width - full, done_, total_, left, what_),
              true);
}
