// FFTW: a lock for its planner, and a cache of plans.
#pragma once

#include <compare>
#include <complex>
#include <cstddef>
#include <memory>
#include <mutex>

namespace croquis {

/// FFTW's planner is not thread-safe, in either precision. Hold this mutex while a plan is made or destroyed. Executing
/// a plan does not need it.
std::mutex& fftw_planner();

/// The description of a transform of vectors.
struct FftwTransform {
  enum class Kind {
    complex_forward,   ///< from one array to another
    complex_backward,  ///< the same, with the opposite sign in the exponent
    cosine,            ///< REDFT10, in place
    cosine_back,       ///< REDFT01, in place
  };
  Kind kind = Kind::complex_forward;
  int length = 1;
  auto operator<=>(const FftwTransform&) const = default;
};

/// A plan, made with FFTW_ESTIMATE. (FFTW_MEASURE chooses by timing, so that the same seed could give different bits on
/// another day.) Several threads may execute it at the same time, each on arrays of its own.
template <typename T>
class FftwPlan {
 public:
  /// Throws std::runtime_error if FFTW makes no plan.
  explicit FftwPlan(const FftwTransform& transform);
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  ~FftwPlan();

  /// For complex_forward and complex_backward. The arrays must differ, and both must be aligned as those of fftw_array.
  /// `from` is not changed.
  void complex(std::complex<T>* from, std::complex<T>* to) const;
  /// For cosine and cosine_back. x need not be aligned.
  void in_place(T* x) const;

 private:
  void* plan_ = nullptr;
};

/// The plan of a transform, from a cache. The cache keeps the kKeptFftwPlans most recently used plans of each
/// precision.
template <typename T>
std::shared_ptr<const FftwPlan<T>> fftw_plan(const FftwTransform& transform);

inline constexpr std::size_t kKeptFftwPlans = 64;

/// The number of plans in the cache of a precision.
template <typename T>
std::size_t fftw_plans_kept();

/// Frees memory that is aligned for FFTW's vector instructions.
struct FftwFree {
  void operator()(void* memory) const;
};
template <typename V>
using FftwArray = std::unique_ptr<V[], FftwFree>;
/// Throws std::bad_alloc if there is not enough memory.
void* fftw_memory(std::size_t bytes);
template <typename V>
FftwArray<V> fftw_array(std::size_t count) {
  return FftwArray<V>(static_cast<V*>(fftw_memory(count * sizeof(V))));
}

}  // namespace croquis
