// FFTW: its planner, and plans that are made once.
#pragma once

#include <compare>
#include <complex>
#include <cstddef>
#include <memory>
#include <mutex>

namespace croquis {

/// FFTW's planner is not thread-safe, in either precision: hold this while a plan is made or destroyed. Plans are
/// executed without it.
std::mutex& fftw_planner();

/// A transform that is used here: of real rows x cols arrays, row by row in memory, or of vectors of cols entries.
struct FftwTransform {
  enum class Kind {
    real_forward,   ///< real -> spectrum, rows x (cols / 2 + 1)
    real_backward,  ///< spectrum, which is destroyed, -> real
    cosine,         ///< REDFT10, in place, rows = 1
    cosine_back,    ///< REDFT01, in place, rows = 1
  };
  Kind kind = Kind::real_forward;
  int rows = 1, cols = 1;
  auto operator<=>(const FftwTransform&) const = default;
};

/// A plan, made with FFTW_ESTIMATE: FFTW_MEASURE picks by the clock, so that the same seed could give other bits on
/// another day. May be executed by several threads at the same time, on arrays of their own.
template <typename T>
class FftwPlan {
 public:
  /// Throws std::runtime_error when FFTW makes no plan.
  explicit FftwPlan(const FftwTransform& transform);
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  ~FftwPlan();

  /// real_forward and real_backward; arrays from fftw_array.
  void forward(T* real, std::complex<T>* spectrum) const;
  void backward(std::complex<T>* spectrum, T* real) const;
  /// cosine and cosine_back; any array.
  void in_place(T* x) const;

 private:
  void* plan_ = nullptr;
};

/// The plan of a transform, from a cache of the kKeptFftwPlans most recently used ones a precision.
template <typename T>
std::shared_ptr<const FftwPlan<T>> fftw_plan(const FftwTransform& transform);

inline constexpr std::size_t kKeptFftwPlans = 64;

/// How many plans the cache of a precision holds.
template <typename T>
std::size_t fftw_plans_kept();

/// Memory that FFTW's vector instructions can use.
struct FftwFree {
  void operator()(void* memory) const;
};
template <typename V>
using FftwArray = std::unique_ptr<V[], FftwFree>;
/// Throws std::bad_alloc when there is none.
void* fftw_memory(std::size_t bytes);
template <typename V>
FftwArray<V> fftw_array(std::size_t count) {
  return FftwArray<V>(static_cast<V*>(fftw_memory(count * sizeof(V))));
}

}  // namespace croquis
