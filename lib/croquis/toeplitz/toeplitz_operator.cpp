#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>

namespace croquis {
namespace {

constexpr arma::uword kRowBlock = 256, kColumnBlock = 512, kColumnsPerTask = 8;

// Three transforms, each with an error of 7 u log2 L relative to its norm, and the product of the spectra.
template <typename T>
double fft_error(arma::uword length) {
  constexpr double a_stage = 7, transforms = 3, product = 10;
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  return (transforms * a_stage * std::log2(std::max(2.0, static_cast<double>(length))) + product) * u;
}

}  // namespace

template <typename T>
ToeplitzOperator<T>::ToeplitzOperator(const RelativePosition<T>& position, arma::uword n, ToeplitzPath path)
    : grid_((require_valid(position, n), n), position.height),
      direct_(path == ToeplitzPath::direct || (path == ToeplitzPath::automatic && n <= kDirectToeplitz)),
      log_scale_(0),
      weights_(log_weights(position, grid_)),
      rows_(fft_friendly_length(2 * grid_.height() - 1)),
      cols_(fft_friendly_length(2 * grid_.width() - 1)) {
  const SerialBlas serial;
  log_scale_ = weights_.max();  // finite: b_0 is
  weights_.transform([this](T b) { return std::exp(b - log_scale_); });
  if (direct_) return;
  fft_.emplace(rows_, cols_);
  const arma::uword h = grid_.height(), w = grid_.width(), stride = 2 * w - 1;
  Workspace work = workspace();
  std::fill_n(work.real(), fft_->size(), T(0));
  for (arma::uword r = 0; r < 2 * h - 1; ++r) {
    for (arma::uword c = 0; c < stride; ++c) {
      // Entry (r, c) is c_t of t = (r - h + 1, c - w + 1), and belongs at index -t.
      const arma::uword row = (h - 1 + rows_ - r) % rows_, col = (w - 1 + cols_ - c) % cols_;
      work.real()[row * cols_ + col] = weights_(r * stride + c);
    }
  }
  fft_->forward(work);
  const T scale = 1 / static_cast<T>(fft_->size());
  std::vector<std::complex<T>> spectrum(work.spectrum(), work.spectrum() + fft_->spectrum_size());
  for (std::complex<T>& value : spectrum) value *= scale;
  spectrum_ = std::make_shared<const std::vector<std::complex<T>>>(std::move(spectrum));
  entry_error_ = fft_error<T>(fft_->size()) * static_cast<double>(arma::norm(weights_));
}

template <typename T>
const RealFft<T>& ToeplitzOperator<T>::fft() const {
  require(fft_.has_value(), "ToeplitzOperator", "a path by fft, this one is direct");
  return *fft_;
}

template <typename T>
void ToeplitzOperator<T>::load(const T* x, const T* factor, T* real) const {
  const arma::uword h = grid_.height(), w = grid_.width();
  for (arma::uword r = 0; r < h; ++r) {
    T* row = real + r * cols_;
    for (arma::uword c = 0; c < w; ++c) row[c] = factor[r * w + c] * x[r * w + c];
    std::fill_n(row + w, cols_ - w, T(0));
  }
  std::fill_n(real + h * cols_, (rows_ - h) * cols_, T(0));
}

template <typename T>
void ToeplitzOperator<T>::multiply_spectrum(bool transposed, Workspace& work) const {
  // Real numbers, because the compiler does not vectorise products of std::complex.
  T* __restrict s = reinterpret_cast<T*>(work.spectrum());
  const T* __restrict t = reinterpret_cast<const T*>(spectrum_->data());
  const T sign = transposed ? T(-1) : T(1);  // the transpose has the conjugate spectrum
  for (std::size_t k = 0; k < 2 * spectrum_->size(); k += 2) {
    const T a = s[k], b = s[k + 1], re = t[k], im = sign * t[k + 1];
    s[k] = a * re - b * im;
    s[k + 1] = a * im + b * re;
  }
}

template <typename T>
void ToeplitzOperator<T>::convolve(bool transposed, Workspace& work) const {
  fft_->forward(work);
  multiply_spectrum(transposed, work);
  fft_->backward(work);
}

template <typename T>
void ToeplitzOperator<T>::accumulate(const T* outer, const T* inner, const T* x, T* y, bool transposed,
                                     Workspace& work) const {
  load(x, inner, work.real());
  convolve(transposed, work);
  for (arma::uword r = 0; r < grid_.height(); ++r) {
    const T* row = work.real() + r * cols_;
    const arma::uword first = r * grid_.width();
    for (arma::uword c = 0; c < grid_.width(); ++c) y[first + c] += outer[first + c] * row[c];
  }
}

template <typename T>
void ToeplitzOperator<T>::weigh(arma::Mat<T>& keys_by_queries, arma::uword first_key, const arma::uvec& queries) const {
  for (arma::uword a = 0; a < keys_by_queries.n_cols; ++a) {
    const arma::uword origin = grid_.centre() - grid_.place(queries(a));
    T* column = keys_by_queries.colptr(a);
    if (grid_.height() == 1) {
      const T* c = weights_.memptr() + (origin + first_key);
      for (arma::uword b = 0; b < keys_by_queries.n_rows; ++b) column[b] *= c[b];
    } else {
      for (arma::uword b = 0; b < keys_by_queries.n_rows; ++b)
        column[b] *= weights_(origin + grid_.place(first_key + b));
    }
  }
}

template <typename T>
arma::Mat<T> ToeplitzOperator<T>::product(const arma::Mat<T>& x, bool transposed) const {
  require(x.n_rows == n(), "ToeplitzOperator", "a matrix with n rows", {{"rows", x.n_rows}, {"n", n()}});
  arma::Mat<T> y(x.n_rows, x.n_cols);
  if (y.is_empty()) return y;
  if (!direct_) {
    const arma::Col<T> ones(n(), arma::fill::ones);
    y.zeros();
    parallel_for((x.n_cols + kColumnsPerTask - 1) / kColumnsPerTask, [&](std::size_t task) {
      Workspace work = workspace();
      const arma::uword first = task * kColumnsPerTask, end = std::min(first + kColumnsPerTask, x.n_cols);
      for (arma::uword k = first; k < end; ++k) {
        accumulate(ones.memptr(), ones.memptr(), x.colptr(k), y.colptr(k), transposed, work);
      }
    });
    return y;
  }
  parallel_for((n() + kRowBlock - 1) / kRowBlock, [&](std::size_t b) {
    const arma::uword i0 = b * kRowBlock, rows = std::min(kRowBlock, n() - i0);
    arma::Mat<T> sums(rows, x.n_cols, arma::fill::zeros), block;
    for (arma::uword j0 = 0; j0 < n(); j0 += kColumnBlock) {
      const arma::uword cols = std::min(kColumnBlock, n() - j0);
      if (transposed) {  // rows i0 ... of T^T are keys, columns queries
        block.ones(rows, cols);
        weigh(block, i0, arma::regspace<arma::uvec>(j0, j0 + cols - 1));
        sums += block * x.rows(j0, j0 + cols - 1);
      } else {
        block.ones(cols, rows);
        weigh(block, j0, arma::regspace<arma::uvec>(i0, i0 + rows - 1));
        sums += block.t() * x.rows(j0, j0 + cols - 1);
      }
    }
    y.rows(i0, i0 + rows - 1) = sums;
  });
  return y;
}

template <typename T>
arma::Mat<T> ToeplitzOperator<T>::apply(const arma::Mat<T>& x) const {
  return product(x, false);
}

template <typename T>
arma::Mat<T> ToeplitzOperator<T>::apply_transposed(const arma::Mat<T>& x) const {
  return product(x, true);
}

template <typename T>
LinearOperator<T> as_operator(const ToeplitzOperator<T>& toeplitz) {
  return {toeplitz.n(), toeplitz.n(), [toeplitz](const arma::Mat<T>& x) { return toeplitz.apply(x); },
          [toeplitz](const arma::Mat<T>& x) { return toeplitz.apply_transposed(x); }};
}

template class ToeplitzOperator<float>;
template class ToeplitzOperator<double>;
template LinearOperator<float> as_operator(const ToeplitzOperator<float>&);
template LinearOperator<double> as_operator(const ToeplitzOperator<double>&);

}  // namespace croquis
