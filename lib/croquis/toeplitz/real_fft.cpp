#include <fftw3.h>

#include <croquis/core/require.hpp>
#include <croquis/linalg/fftw_planner.hpp>
#include <croquis/toeplitz/real_fft.hpp>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

template <typename T>
struct Fftw;

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  static Plan forward(int rows, int cols, double* x, Complex* y) {
    return rows == 1 ? fftw_plan_dft_r2c_1d(cols, x, y, FFTW_ESTIMATE)
                     : fftw_plan_dft_r2c_2d(rows, cols, x, y, FFTW_ESTIMATE);
  }
  static Plan backward(int rows, int cols, Complex* y, double* x) {
    return rows == 1 ? fftw_plan_dft_c2r_1d(cols, y, x, FFTW_ESTIMATE)
                     : fftw_plan_dft_c2r_2d(rows, cols, y, x, FFTW_ESTIMATE);
  }
  static void run(Plan plan, double* x, Complex* y) { fftw_execute_dft_r2c(plan, x, y); }
  static void run(Plan plan, Complex* y, double* x) { fftw_execute_dft_c2r(plan, y, x); }
  static void destroy(Plan plan) { fftw_destroy_plan(plan); }
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static Plan forward(int rows, int cols, float* x, Complex* y) {
    return rows == 1 ? fftwf_plan_dft_r2c_1d(cols, x, y, FFTW_ESTIMATE)
                     : fftwf_plan_dft_r2c_2d(rows, cols, x, y, FFTW_ESTIMATE);
  }
  static Plan backward(int rows, int cols, Complex* y, float* x) {
    return rows == 1 ? fftwf_plan_dft_c2r_1d(cols, y, x, FFTW_ESTIMATE)
                     : fftwf_plan_dft_c2r_2d(rows, cols, y, x, FFTW_ESTIMATE);
  }
  static void run(Plan plan, float* x, Complex* y) { fftwf_execute_dft_r2c(plan, x, y); }
  static void run(Plan plan, Complex* y, float* x) { fftwf_execute_dft_c2r(plan, y, x); }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
};

template <typename T>
typename Fftw<T>::Complex* as_fftw(std::complex<T>* x) {
  return reinterpret_cast<typename Fftw<T>::Complex*>(x);  // the same layout, as FFTW's manual says
}

void* allocate(std::size_t bytes) {
  void* memory = fftw_malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

arma::uword fft_friendly_length(arma::uword n) {
  if (n <= 1) return 1;
  for (arma::uword length = n + n % 2;; length += 2) {
    arma::uword rest = length;
    for (const arma::uword factor : {2U, 3U, 5U, 7U}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return length;
  }
}

template <typename T>
struct RealFft<T>::Plans {
  typename Fftw<T>::Plan forward = nullptr, backward = nullptr;

  // Made and destroyed under the planner's mutex, by those who hold it.
  Plans(int rows, int cols, Workspace& workspace) {
    forward = Fftw<T>::forward(rows, cols, workspace.real(), as_fftw(workspace.spectrum()));
    backward = Fftw<T>::backward(rows, cols, as_fftw(workspace.spectrum()), workspace.real());
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;
  ~Plans() {
    if (forward != nullptr) Fftw<T>::destroy(forward);
    if (backward != nullptr) Fftw<T>::destroy(backward);
  }
};

template <typename T>
RealFft<T>::RealFft(arma::uword rows, arma::uword cols) : rows_(rows), cols_(cols) {
  constexpr auto most = static_cast<arma::uword>(std::numeric_limits<int>::max());
  require(rows >= 1 && cols >= 1 && rows <= most && cols <= most, "RealFft", "1 <= rows, cols < 2^31",
          {{"rows", rows}, {"cols", cols}});
  static std::map<std::pair<arma::uword, arma::uword>, std::shared_ptr<const Plans>> kept;
  const std::lock_guard lock(fftw_planner());
  std::shared_ptr<const Plans>& plans = kept[{rows, cols}];
  if (plans == nullptr) {
    Workspace workspace(*this);
    auto made = std::make_shared<const Plans>(static_cast<int>(rows), static_cast<int>(cols), workspace);
    if (made->forward == nullptr || made->backward == nullptr) throw std::runtime_error("RealFft: FFTW made no plan");
    plans = std::move(made);
  }
  plans_ = plans;
}

template <typename T>
void RealFft<T>::Workspace::Free::operator()(void* memory) const {
  fftw_free(memory);
}

template <typename T>
RealFft<T>::Workspace::Workspace(const RealFft& fft)
    : real_(static_cast<T*>(allocate(fft.size() * sizeof(T)))),
      spectrum_(static_cast<std::complex<T>*>(allocate(fft.spectrum_size() * sizeof(std::complex<T>)))) {}

template <typename T>
void RealFft<T>::forward(Workspace& workspace) const {
  Fftw<T>::run(plans_->forward, workspace.real(), as_fftw(workspace.spectrum()));
}

template <typename T>
void RealFft<T>::backward(Workspace& workspace) const {
  Fftw<T>::run(plans_->backward, as_fftw(workspace.spectrum()), workspace.real());
}

template class RealFft<float>;
template class RealFft<double>;

}  // namespace croquis
