#include <fmt/format.h>
#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <croquis/core/interruption.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {
namespace {

constexpr std::size_t kCacheLine = 64;

std::atomic<int> chosen_threads{0};
std::atomic<int> processors{0};  // 0: not asked yet; asking the system takes as long as a short loop

// A size of stacks as libgomp reads it: a number, of KiB unless B, K, M or G follows; nothing where it ignores the
// text.
std::optional<std::size_t> stack_bytes(std::string_view text) {
  const auto skip_spaces = [&] {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  };
  skip_spaces();
  if (text.starts_with('+')) text.remove_prefix(1);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  skip_spaces();
  std::size_t unit = 1;
  if (!text.empty()) {
    unit = std::string_view("bkmg").find(static_cast<char>(std::tolower(static_cast<unsigned char>(text.front()))));
    text.remove_prefix(1);
    skip_spaces();
  }
  if (unit == std::string_view::npos || !text.empty()) return {};
  if (number > std::numeric_limits<std::size_t>::max() >> (10 * unit)) return {};
  return number << (10 * unit);
}

// Attributes of threads as libgomp makes them: the first variable with a size says what their stacks are.
class ThreadAttributes {
 public:
  ThreadAttributes() {
    ::pthread_attr_init(&attributes_);
    for (const char* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
      const char* const text = std::getenv(name);
      const auto bytes = text == nullptr ? std::nullopt : stack_bytes(text);
      if (!bytes) continue;
      // A size below the system's least is refused here, and libgomp goes on with the default.
      if (::pthread_attr_setstacksize(&attributes_, *bytes) != 0) return;
      setting_ = fmt::format("{}={}", name, text);
      if (*bytes < kLeastStack) {
        throw std::runtime_error(fmt::format("threads: {} is less stack than a thread needs; set {}K or more, or none",
                                             setting_, kLeastStack >> 10));
      }
      return;
    }
  }
  ~ThreadAttributes() { ::pthread_attr_destroy(&attributes_); }
  ThreadAttributes(const ThreadAttributes&) = delete;
  ThreadAttributes& operator=(const ThreadAttributes&) = delete;

  const pthread_attr_t* get() const { return &attributes_; }
  const std::string& setting() const { return setting_; }  // empty: stacks have the default size

 private:
  pthread_attr_t attributes_{};
  std::string setting_;
};

void* pass_gate(void* gate) {
  const std::lock_guard through(*static_cast<std::mutex*>(gate));
  return nullptr;
}

std::string why_no_team(int team, std::size_t given, bool bad_stack, const std::string& setting) {
  if (bad_stack && !setting.empty()) {
    return fmt::format("threads: with {} the system gives none; set a larger size, or none", setting);
  }
  return fmt::format("threads: {} are wanted and the system gives {}{}; set fewer (--threads)", team, given,
                     setting.empty() ? "" : fmt::format(" with {}", setting));
}

// Where the system gives no more threads, or none with such a stack, libgomp ends the process with status 1 and no word
// of ours: ask before it does.
void require_available(int team) {
  static std::atomic<int> proven{1};
  if (team <= proven) return;
  const ThreadAttributes attributes;
  const auto wanted = static_cast<std::size_t>(team) - 1;
  std::vector<pthread_t> made;
  made.reserve(wanted);
  int error = 0;
  std::mutex gate;
  std::unique_lock closed(gate);  // so that all are there at the same time
  while (error == 0 && made.size() < wanted) {
    pthread_t thread{};
    error = ::pthread_create(&thread, attributes.get(), pass_gate, &gate);
    if (error == 0) made.push_back(thread);
  }
  closed.unlock();
  for (const pthread_t thread : made) ::pthread_join(thread, nullptr);
  if (error != 0) {
    throw std::runtime_error(why_no_team(team, made.size() + 1, error == EINVAL, attributes.setting()));
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
