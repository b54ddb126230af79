#include "files/work_queue.hpp"

#include "files/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <croquis/distributed/communicator.hpp>
#include <exception>
#include <utility>

namespace {

using croquis::Communicator;

// What the other ranks send to rank 0. Rows follow kPut: fields end in kFieldEnd, rows in a line break; neither stands
// in a field, for rows are lines.
constexpr char kTake = 'T', kPut = 'P', kFinish = 'F';
constexpr char kFieldEnd = '\x1f', kRowEnd = '\n';
constexpr auto kPause =
    std::chrono::milliseconds(1);  // between looks for messages: MPI's own waiting takes a processor

std::string packed(const WorkQueue::Rows& rows) {
  std::string text(1, kPut);
  for (const auto& row : rows) {
    for (const std::string& field : row) text.append(field) += kFieldEnd;
    text += kRowEnd;
  }
  return text;
}

WorkQueue::Rows unpacked(const std::string& text) {
  WorkQueue::Rows rows;
  std::vector<std::string> fields(1);
  for (const char c : text.substr(1)) {
    if (c == kFieldEnd) {
      fields.emplace_back();
    } else if (c == kRowEnd) {
      fields.pop_back();
      rows.push_back(std::move(fields));
      fields.assign(1, "");
    } else {
      fields.back() += c;
    }
  }
  return rows;
}

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
  if (world.rank() != 0) return world.send(0, packed(rows));
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
      deliver_(unpacked(text));
    } else {
      const std::lock_guard lock(taking_);
      world.send(from, std::to_string(next()));
    }
  }
} catch (const std::exception& failure) {
  say(fmt::format("croquis: {}\n", failure.what()));
  Communicator::world().abort(2);
}
