#include <fftw3.h>

#include <croquis/core/recently_used.hpp>
#include <croquis/linalg/fftw_plans.hpp>
#include <new>
#include <stdexcept>

namespace croquis {
namespace {

using Kind = FftwTransform::Kind;

// Unaligned, so that a plan in place can be used for any array and gives the same bits for all of them.
constexpr unsigned kInPlace = FFTW_ESTIMATE | FFTW_UNALIGNED;

// FFTW's functions by precision.
template <typename T>
struct Fftw;

template <>
struct Fftw<double> {
  using Plan = ::fftw_plan;
  using Complex = fftw_complex;
  static constexpr auto plan_complex = fftw_plan_dft_1d;
  static constexpr auto plan_in_place = fftw_plan_r2r_1d;
  static constexpr auto run_complex = fftw_execute_dft;
  static constexpr auto run_in_place = fftw_execute_r2r;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto plan_complex = fftwf_plan_dft_1d;
  static constexpr auto plan_in_place = fftwf_plan_r2r_1d;
  static constexpr auto run_complex = fftwf_execute_dft;
  static constexpr auto run_in_place = fftwf_execute_r2r;
  static constexpr auto destroy = fftwf_destroy_plan;
};

template <typename T>
typename Fftw<T>::Complex* as_fftw(std::complex<T>* x) {
  return reinterpret_cast<typename Fftw<T>::Complex*>(x);  // the same layout, as FFTW's manual says
}

// FFTW_ESTIMATE reads no numbers, only the addresses of the arrays.
template <typename T>
typename Fftw<T>::Plan made(const FftwTransform& t) {
  const auto length = static_cast<std::size_t>(t.length);
  if (t.kind == Kind::cosine || t.kind == Kind::cosine_back) {
    const FftwArray<T> x = fftw_array<T>(length);
    return Fftw<T>::plan_in_place(t.length, x.get(), x.get(), t.kind == Kind::cosine ? FFTW_REDFT10 : FFTW_REDFT01,
                                  kInPlace);
  }
  const FftwArray<std::complex<T>> from = fftw_array<std::complex<T>>(length), to = fftw_array<std::complex<T>>(length);
  return Fftw<T>::plan_complex(t.length, as_fftw(from.get()), as_fftw(to.get()),
                               t.kind == Kind::complex_forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
}

template <typename T>
RecentlyUsed<FftwTransform, FftwPlan<T>>& cache() {
  fftw_planner();  // made before the cache, so destroyed after it
  static RecentlyUsed<FftwTransform, FftwPlan<T>> plans(kKeptFftwPlans);
  return plans;
}

template <typename T>
typename Fftw<T>::Plan plan_in(void* plan) {
  return static_cast<typename Fftw<T>::Plan>(plan);
}

}  // namespace

std::mutex& fftw_planner() {
  static std::mutex mutex;
  return mutex;
}

template <typename T>
FftwPlan<T>::FftwPlan(const FftwTransform& transform) {
  const std::lock_guard lock(fftw_planner());
  plan_ = made<T>(transform);
  if (plan_ == nullptr) throw std::runtime_error("FftwPlan: FFTW made no plan");
}

template <typename T>
FftwPlan<T>::~FftwPlan() {
  const std::lock_guard lock(fftw_planner());
  Fftw<T>::destroy(plan_in<T>(plan_));
}

template <typename T>
void FftwPlan<T>::complex(std::complex<T>* from, std::complex<T>* to) const {
  Fftw<T>::run_complex(plan_in<T>(plan_), as_fftw(from), as_fftw(to));
}

template <typename T>
void FftwPlan<T>::in_place(T* x) const {
  Fftw<T>::run_in_place(plan_in<T>(plan_), x, x);
}

template <typename T>
std::shared_ptr<const FftwPlan<T>> fftw_plan(const FftwTransform& transform) {
  return cache<T>().get(transform, [&] { return std::make_shared<const FftwPlan<T>>(transform); });
}

template <typename T>
std::size_t fftw_plans_kept() {
  return cache<T>().size();
}

void FftwFree::operator()(void* memory) const {
  fftw_free(memory);
}

void* fftw_memory(std::size_t bytes) {
  void* memory = fftw_malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

template class FftwPlan<float>;
template class FftwPlan<double>;
template std::shared_ptr<const FftwPlan<float>> fftw_plan(const FftwTransform&);
template std::shared_ptr<const FftwPlan<double>> fftw_plan(const FftwTransform&);
template std::size_t fftw_plans_kept<float>();
template std::size_t fftw_plans_kept<double>();

}  // namespace croquis
