#include "files/work_queue.hpp"

#include "files/progress.hpp"
#include "files/row_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <croquis/distributed/communicator.hpp>
#include <exception>
#include <string_view>
#include <utility>

namespace {

using croquis::Communicator;

// What the other ranks send to rank 0. Rows follow kPut as lines of CSV, for a field may have any bytes: names of files
// are those of the user.
constexpr char kTake = 'T', kPut = 'P', kFinish = 'F';
constexpr auto kPause =
    std::chrono::milliseconds(1);  // between looks for messages: MPI's own waiting takes a processor

}  // namespace

WorkQueue::WorkQueue(std::size_t count, Deliver deliver) : count_(count), deliver_(std::move(deliver)) {
  const Communicator& world = Communicator::world();
  if (world.rank() == 0 && world.size() > 1)
    service_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

std::size_t WorkQueue::next() {
  Communicator& world = Communicator::world();
  if (world.rank() == 0) return next_ < count_ ? next_++ : count_;
  world.send(0, std::string(1, kTake));
  return std::stoull(world.receive(0));
}

std::optional<std::size_t> WorkQueue::take(std::size_t end) {
  const std::lock_guard lock(taking_);
  if (!waiting_) waiting_ = next();
  if (*waiting_ >= std::min(end, count_)) return {};
  return std::exchange(waiting_, std::nullopt);
}

bool WorkQueue::has(std::size_t end) {
  const std::lock_guard lock(taking_);
  if (!waiting_) waiting_ = next();
  return *waiting_ < std::min(end, count_);
}

void WorkQueue::put(const Rows& rows) {
  Communicator& world = Communicator::world();
  if (world.rank() != 0) return world.send(0, kPut + csv_lines(rows));
  const std::lock_guard lock(delivering_);
  deliver_(rows);
}

void WorkQueue::finish() {
  Communicator& world = Communicator::world();
  if (world.rank() != 0) return world.send(0, std::string(1, kFinish));
  if (service_.joinable()) service_.join();
}

void WorkQueue::serve(const std::stop_token& stop) try {
  Communicator& world = Communicator::world();
  for (int working = world.size() - 1; working > 0 && !stop.stop_requested();) {
    const auto message = world.poll();
    if (!message) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    const auto& [from, text] = *message;
    if (text[0] == kFinish) {
      --working;
    } else if (text[0] == kPut) {
      const std::lock_guard lock(delivering_);
      deliver_(rows_of_lines(std::string_view(text).substr(1)));
    } else {
      const std::lock_guard lock(taking_);
      world.send(from, std::to_string(next()));
    }
  }
} catch (const std::exception& failure) {
  say(fmt::format("croquis: {}\n", failure.what()));
  Communicator::world().abort(2);
}
