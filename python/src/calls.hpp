// Calls of the library from Python: without the interpreter's lock, and ended by Ctrl-C.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <croquis/core/interruption.hpp>
#include <croquis/core/serial_blas.hpp>
#include <new>
#include <stdexcept>
#include <thread>

namespace py = pybind11;

/// What Python's signal handlers have to say, asked by the calling thread now and then. A handler that raises, as that
/// of SIGINT does, ends the call; handlers run on Python's main thread alone, so a call of another thread is not ended.
class Signals {
 public:
  bool stop_requested() {
    if (stop_) return true;
    if (std::this_thread::get_id() != caller_ || Clock::now() < next_) return false;
    next_ = Clock::now() + kInterval;
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) stop_ = true;
    return stop_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{50};

  const std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + kInterval;  // of the calling thread alone
  std::atomic<bool> stop_ = false;
};

inline void set_no_memory() {
  PyErr_SetString(PyExc_MemoryError, "there is not enough memory; fewer tokens, features, trials or threads need less");
}

/// Raises MemoryError where there is no memory, or where a vector can have no such size.
[[noreturn]] inline void throw_no_memory() {
  set_no_memory();
  throw py::error_already_set();
}

/// work(signals) without the lock, and with BLAS on one thread: in a forked process it would wait for ever for others,
/// which do not exist there. What a signal handler has raised is raised here. Where there is no memory, a MemoryError
/// says so.
template <typename Work>
auto call(const Work& work) {
  Signals signals;
  try {
    const py::gil_scoped_release released;
    const croquis::SerialBlas serial;
    const croquis::Interruptible interruptible([&] { return signals.stop_requested(); });
    return work(signals);
  } catch (const croquis::Interrupted&) {
    throw py::error_already_set();
  } catch (const std::bad_alloc&) {
    throw_no_memory();
  } catch (const std::length_error&) {
    throw_no_memory();
  }
}
