// Hands out the cells of a run to the threads of all ranks, and collects their rows on rank 0.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

/// A thread takes the next cell when it has finished one, so that a slow cell holds up nobody. Rank 0 deals; it
/// computes as well, and a thread of it answers the others.
class WorkQueue {
 public:
  using Rows = std::vector<std::vector<std::string>>;
  using Deliver = std::function<void(const Rows&)>;

  /// For cells 0, ..., count - 1. `deliver` is called on rank 0, for one cell at a time.
  WorkQueue(std::size_t count, Deliver deliver);

  /// A cell below `end` that nobody else has, for the caller to compute; none when there is none left. Every rank asks
  /// with ends that do not descend.
  std::optional<std::size_t> take(std::size_t end);

  /// Whether take(end) would give one, which it then keeps for this rank.
  bool has(std::size_t end);

  /// The rows of a cell that was taken.
  void put(const Rows& rows);

  /// Says that this rank takes no more; rank 0 waits until all have said so.
  void finish();

 private:
  std::size_t next();
  void serve(const std::stop_token& stop);

  std::size_t count_;
  Deliver deliver_;
  std::mutex taking_, delivering_;
  std::size_t next_ = 0;                // of rank 0
  std::optional<std::size_t> waiting_;  // dealt to this rank, at or above the last `end`
  std::jthread service_;                // last: it uses the others
};
