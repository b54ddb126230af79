#include <croquis/core/interruption.hpp>
#include <utility>

namespace croquis {
namespace {

thread_local const std::function<bool()>* question = nullptr;

}  // namespace

Interruptible::Interruptible(std::function<bool()> stop_requested)
    : stop_requested_(std::move(stop_requested)), before_(std::exchange(question, &stop_requested_)) {}

Interruptible::~Interruptible() {
  question = before_;
}

const std::function<bool()>* stop_question() {
  return question;
}

SharedStopQuestion::SharedStopQuestion(const std::function<bool()>* shared)
    : before_(std::exchange(question, shared)) {}

SharedStopQuestion::~SharedStopQuestion() {
  question = before_;
}

void throw_if_interrupted() {
  if (question != nullptr && (*question)()) throw Interrupted();
}

}  // namespace croquis
