// The planner of FFTW.
#pragma once

#include <mutex>

namespace croquis {

/// FFTW's planner is not thread-safe, in either precision: hold this while a plan is made or destroyed. Plans are
/// executed without it.
std::mutex& fftw_planner();

}  // namespace croquis
