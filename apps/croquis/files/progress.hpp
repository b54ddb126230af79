// Progress on standard error: a bar on a terminal, from the start, and one line a minute otherwise, also while one step
// takes longer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

/// Writes to standard error, in place of a bar that is there. One that cannot be written ends no run.
void say(const std::string& text);

/// The same, of several ranks the first one alone.
void say_once(const std::string& text);

class Progress {
 public:
  /// `total` steps; silent when `quiet`.
  Progress(std::size_t total, bool quiet);
  /// Takes the bar away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of the steps are done; `what` is under way.
  void show(std::size_t done, const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;

  void draw();
  void draw_again(const std::stop_token& ended);

  std::size_t total_;
  bool quiet_, terminal_;
  Clock::duration pause_, again_;  // between two times that it is shown, at least, and at most
  Clock::time_point start_ = Clock::now(), last_;
  std::mutex showing_;  // for what follows, and last_
  std::size_t done_ = 0;
  std::string what_;
  std::condition_variable_any waiting_;
  std::jthread repeater_;
};
