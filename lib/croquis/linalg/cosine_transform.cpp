#include <fftw3.h>

#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/linalg/cosine_transform.hpp>
#include <croquis/linalg/fftw_planner.hpp>
#include <limits>
#include <map>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace croquis {
namespace {

// Unaligned: a plan serves any array, and gives the same bits for all of them.
constexpr unsigned kFlags = FFTW_ESTIMATE | FFTW_UNALIGNED;

template <typename T>
struct Fftw;

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  static Plan make(int n, double* x, fftw_r2r_kind kind) { return fftw_plan_r2r_1d(n, x, x, kind, kFlags); }
  static void run(Plan plan, double* x) { fftw_execute_r2r(plan, x, x); }
  static void destroy(Plan plan) { fftw_destroy_plan(plan); }
};

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  static Plan make(int n, float* x, fftw_r2r_kind kind) { return fftwf_plan_r2r_1d(n, x, x, kind, kFlags); }
  static void run(Plan plan, float* x) { fftwf_execute_r2r(plan, x, x); }
  static void destroy(Plan plan) { fftwf_destroy_plan(plan); }
};

}  // namespace

template <typename T>
struct CosineTransform<T>::Plans {
  typename Fftw<T>::Plan forward = nullptr, backward = nullptr;

  // Made and destroyed under the planner's mutex, by those who hold it.
  explicit Plans(int n) {
    std::vector<T> x(static_cast<std::size_t>(n));
    forward = Fftw<T>::make(n, x.data(), FFTW_REDFT10);
    backward = Fftw<T>::make(n, x.data(), FFTW_REDFT01);
  }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;
  ~Plans() {
    if (forward != nullptr) Fftw<T>::destroy(forward);
    if (backward != nullptr) Fftw<T>::destroy(backward);
  }
};

template <typename T>
CosineTransform<T>::CosineTransform(arma::uword n) : n_(n) {
  require(n >= 1 && n <= static_cast<arma::uword>(std::numeric_limits<int>::max()), "CosineTransform", "1 <= n < 2^31",
          {{"n", n}});
  static std::map<arma::uword, std::shared_ptr<const Plans>> kept;  // for the life of the program
  const std::lock_guard lock(fftw_planner());
  std::shared_ptr<const Plans>& plans = kept[n];
  if (plans == nullptr) {
    auto made = std::make_shared<const Plans>(static_cast<int>(n));
    if (made->forward == nullptr || made->backward == nullptr) {
      throw std::runtime_error("CosineTransform: FFTW made no plan");
    }
    plans = std::move(made);
  }
  plans_ = plans;
}

// FFTW's REDFT10 is 2 sum_i x_i cos(pi (2i + 1) k / 2n); its REDFT01 is x_0 + 2 sum_k x_k cos(pi k (2i + 1) / 2n).
template <typename T>
void CosineTransform<T>::apply(T* x) const {
  Fftw<T>::run(plans_->forward, x);
  const T scale = 1 / std::sqrt(2 * static_cast<T>(n_));
  x[0] *= 1 / (2 * std::sqrt(static_cast<T>(n_)));
  for (arma::uword k = 1; k < n_; ++k) x[k] *= scale;
}

template <typename T>
void CosineTransform<T>::apply_transposed(T* x) const {
  const T scale = 1 / std::sqrt(2 * static_cast<T>(n_));
  x[0] *= 1 / std::sqrt(static_cast<T>(n_));
  for (arma::uword k = 1; k < n_; ++k) x[k] *= scale;
  Fftw<T>::run(plans_->backward, x);
}

template <typename T>
T CosineTransform<T>::entry(arma::uword k, arma::uword i) const {
  const auto n = static_cast<double>(n_);
  if (k == 0) return static_cast<T>(1 / std::sqrt(n));
  const arma::uword steps = (2 * i + 1) * k % (4 * n_);  // of pi / 2n
  return static_cast<T>(std::sqrt(2 / n) * std::cos(std::numbers::pi * static_cast<double>(steps) / (2 * n)));
}

template class CosineTransform<float>;
template class CosineTransform<double>;

}  // namespace croquis
