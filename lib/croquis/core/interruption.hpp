// Calls that can be stopped from outside.
#pragma once

#include <functional>

namespace croquis {

/// Thrown by a call that was asked to stop. It is not a std::exception, so code that handles breakdowns lets it pass.
struct Interrupted {};

/// While an Interruptible exists, calls of its thread can be stopped. The parallel loops that the thread runs, and the
/// loops nested in them, call `stop_requested` before every body and throw Interrupted when it returns true.
///
/// `stop_requested` is called from several threads at once. Once it has returned true, it must go on doing so. Between
/// two calls there is one body: a block of a product, or a call of LAPACK, which takes minutes for a dense matrix of
/// 4096 rows.
/// If Interruptibles are nested, only the innermost one is asked. Results do not change.
/// Cost: one call of `stop_requested` for each body.
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

/// The `stop_requested` of this thread's innermost Interruptible, for loops that continue its calls on other threads;
/// nullptr if there is none.
const std::function<bool()>* stop_question();

/// While a SharedStopQuestion exists, calls of its thread ask `question`, the stop_question() of another thread. It is
/// for the further threads of a loop.
class [[nodiscard]] SharedStopQuestion {
 public:
  explicit SharedStopQuestion(const std::function<bool()>* question);
  ~SharedStopQuestion();
  SharedStopQuestion(const SharedStopQuestion&) = delete;
  SharedStopQuestion& operator=(const SharedStopQuestion&) = delete;

 private:
  const std::function<bool()>* before_;
};

/// Throws Interrupted if the calls of this thread have been asked to stop. For long loops that are not parallel.
void throw_if_interrupted();

}  // namespace croquis
