#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <croquis/core/interruption.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace croquis {
namespace {

constexpr std::size_t kCacheLine = 64;

std::atomic<int> chosen_threads{0};
std::atomic<int> processors{0};  // 0: not asked yet; asking the system takes as long as a short loop

// Where the system gives no more threads, libgomp ends the process with status 1 and no word of ours: ask before it
// does.
void require_available(int team) {
  static std::atomic<int> proven{1};
  if (team <= proven) return;
  std::mutex gate;
  std::unique_lock closed(gate);  // so that all are there at the same time
  std::vector<std::thread> made;
  try {
    while (static_cast<int>(made.size()) < team - 1) made.emplace_back([&] { const std::lock_guard through(gate); });
  } catch (const std::exception&) {  // checked by their number
  }
  closed.unlock();
  for (std::thread& thread : made) thread.join();
  if (static_cast<int>(made.size()) < team - 1) {
    throw std::runtime_error(
        fmt::format("threads: {} are wanted and the system gives {}; set fewer (--threads)", team, made.size() + 1));
  }
  proven = team;
}

}  // namespace

void set_threads(int count) {
  require(count >= 0, "set_threads", "count >= 0", {{"count", count}});
  chosen_threads = count;
  processors = 0;
}

int threads() {
  if (const int chosen = chosen_threads; chosen > 0) return chosen;
  int count = processors;
  if (count == 0) processors = count = omp_get_num_procs();
  return count;
}

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  const int team = static_cast<int>(std::min<std::size_t>(count, static_cast<std::size_t>(threads())));
  if (team <= 1 || omp_in_parallel()) {
    const SerialBlas serial;
    for (std::size_t i = 0; i < count; ++i) {
      throw_if_interrupted();
      body(i);
    }
    return;
  }
  require_available(team);
  // A thread begins with a share of its own, neighbours in memory, which are the same from loop to loop: what it has
  // brought into its cache it finds there again. Then it helps the others.
  struct alignas(kCacheLine) Share {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };
  const auto parts = static_cast<std::size_t>(team);
  std::vector<Share> shares(parts);
  for (std::size_t s = 0; s < parts; ++s) {
    shares[s].next.store(s * count / parts, std::memory_order_relaxed);
    shares[s].end = (s + 1) * count / parts;
  }
  std::exception_ptr error;
  const auto* question = stop_question();
  // What came before the loop is seen in it by `failed`, and the loop after it by `done`, also by and of a thread that
  // gets nothing to do: libgomp sees to that as well, but the thread sanitizer doesn't see into libgomp.
  std::atomic<std::size_t> done{0};
  std::atomic<bool> failed;
  failed.store(false, std::memory_order_release);
#pragma omp parallel num_threads(team)
  {
    const SerialBlas serial;
    const SharedStopQuestion shared(question);
    failed.load(std::memory_order_acquire);
    for (std::size_t s = 0; s < parts; ++s) {
      Share& share = shares[(static_cast<std::size_t>(omp_get_thread_num()) + s) % parts];
      for (std::size_t i = share.next++; i < share.end && !failed; i = share.next++) {
        try {
          throw_if_interrupted();
          body(i);
        } catch (...) {
          if (!failed.exchange(true)) error = std::current_exception();
        }
      }
    }
    done.fetch_add(1, std::memory_order_release);
  }
  done.load(std::memory_order_acquire);
  if (error) std::rethrow_exception(error);
}

}  // namespace croquis
