#include <croquis/linalg/fftw_planner.hpp>

namespace croquis {

std::mutex& fftw_planner() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace croquis
