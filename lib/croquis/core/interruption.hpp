// Calls that can be stopped from outside.
#pragma once

#include <functional>

namespace croquis {

/// Thrown out of a call that was asked to stop. No std::exception: code that handles a breakdown lets it pass.
struct Interrupted {};

/// While one exists, calls of its thread can be stopped: the parallel loops that the thread runs, and those in their
/// bodies, ask `stop_requested` before every body and throw Interrupted when it returns true. It is asked from several
/// threads at once, and has to go on returning true once it has. What runs between two questions is a block of a
/// product, or a call of LAPACK, which on a dense matrix of 4096 rows takes minutes.
/// Nests: the inner one alone is asked. It does not change results. Cost: a call of `stop_requested` a body.
class [[nodiscard]] Interruptible {
 public:
  explicit Interruptible(std::function<bool()> stop_requested);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  std::function<bool()> stop_requested_;
  const std::function<bool()>* before_;
};

/// What the calls of this thread are to ask, for the loops that continue them on other threads; null: nothing.
const std::function<bool()>* stop_question();

/// The same question for another thread, as long as one exists there.
class [[nodiscard]] SharedStopQuestion {
 public:
  explicit SharedStopQuestion(const std::function<bool()>* question);
  ~SharedStopQuestion();
  SharedStopQuestion(const SharedStopQuestion&) = delete;
  SharedStopQuestion& operator=(const SharedStopQuestion&) = delete;

 private:
  const std::function<bool()>* before_;
};

/// Throws Interrupted when this thread's calls are asked to stop: for long loops that are not parallel.
void throw_if_interrupted();

}  // namespace croquis
