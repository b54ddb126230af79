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
  static constexpr auto plan_forward = fftw_plan_dft_r2c;
  static constexpr auto plan_backward = fftw_plan_dft_c2r;
  static constexpr auto plan_in_place = fftw_plan_r2r_1d;
  static constexpr auto run_forward = fftw_execute_dft_r2c;
  static constexpr auto run_backward = fftw_execute_dft_c2r;
  static constexpr auto run_in_place = fftw_execute_r2r;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto plan_forward = fftwf_plan_dft_r2c;
  static constexpr auto plan_backward = fftwf_plan_dft_c2r;
  static constexpr auto plan_in_place = fftwf_plan_r2r_1d;
  static constexpr auto run_forward = fftwf_execute_dft_r2c;
  static constexpr auto run_backward = fftwf_execute_dft_c2r;
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
  const std::size_t rows = static_cast<std::size_t>(t.rows), cols = static_cast<std::size_t>(t.cols);
  const FftwArray<T> real = fftw_array<T>(rows * cols);
  if (t.kind == Kind::cosine || t.kind == Kind::cosine_back) {
    return Fftw<T>::plan_in_place(t.cols, real.get(), real.get(), t.kind == Kind::cosine ? FFTW_REDFT10 : FFTW_REDFT01,
                                  kInPlace);
  }
  const FftwArray<std::complex<T>> spectrum = fftw_array<std::complex<T>>(rows * (cols / 2 + 1));
  const int sizes[] = {t.rows, t.cols};
  const int rank = t.rows == 1 ? 1 : 2;
  const int* of_rank = sizes + (2 - rank);
  return t.kind == Kind::real_forward
             ? Fftw<T>::plan_forward(rank, of_rank, real.get(), as_fftw(spectrum.get()), FFTW_ESTIMATE)
             : Fftw<T>::plan_backward(rank, of_rank, as_fftw(spectrum.get()), real.get(), FFTW_ESTIMATE);
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
void FftwPlan<T>::forward(T* real, std::complex<T>* spectrum) const {
  Fftw<T>::run_forward(plan_in<T>(plan_), real, as_fftw(spectrum));
}

template <typename T>
void FftwPlan<T>::backward(std::complex<T>* spectrum, T* real) const {
  Fftw<T>::run_backward(plan_in<T>(plan_), as_fftw(spectrum), real);
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
