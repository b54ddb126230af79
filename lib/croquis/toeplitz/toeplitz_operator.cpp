#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kRowBlock = 256, kColumnBlock = 512, kColumnsPerTask = 8;

// Transforms of the kernel, of x and back, each with an error of 7 u log2 L relative to its norm. The last one counts
// twice, since two entries of T x share it. Then the products of the spectra, and what splits and joins them.
template <typename T>
double fft_error(const PhaseLayout& layout) {
  constexpr double a_stage = 7, transforms = 4, product = 10;
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  return (transforms * a_stage * std::log2(static_cast<double>(layout.length)) + product +
          3 * static_cast<double>(layout.phases)) *
         u;
}

}  // namespace

template <typename T>
ToeplitzOperator<T>::ToeplitzOperator(const RelativePosition<T>& position, arma::uword n, ToeplitzPath path)
    : grid_((require_valid(position, n), n), position.height),
      direct_(path == ToeplitzPath::direct || (path == ToeplitzPath::automatic && n <= kDirectToeplitz)),
      log_scale_(0),
      weights_(log_weights(position, grid_)),
      layout_(grid_) {
  const SerialBlas serial;
  log_scale_ = weights_.max();  // finite: b_0 is
  weights_.transform([this](T b) { return std::exp(b - log_scale_); });
  if (direct_) return;
  fft_.emplace(layout_.length);
  const arma::uword kernels = 2 * layout_.phases - 1;
  PairedSequences<T> sequences(kernels, layout_.length), transforms(kernels, layout_.length);
  sequences.fill_zero();
  const T scale = 1 / static_cast<T>(layout_.length);
  layout_.for_each_bias(grid_, [&](arma::uword kernel, arma::uword place, arma::uword entry) {
    // The product with c_t moves x back by t.
    sequences.at(kernel, (layout_.length - place) % layout_.length) = scale * weights_(entry);
  });
  for (arma::uword p = 0; p < sequences.pairs(); ++p) fft_->forward(sequences, p, transforms, p);
  auto spectra = std::make_shared<Spectra<T>>(empty_correlation());
  split(transforms, *spectra);
  kernel_ = std::move(spectra);
  entry_error_ = fft_error<T>(layout_) * static_cast<double>(arma::norm(weights_));
}

template <typename T>
typename ToeplitzOperator<T>::Workspace ToeplitzOperator<T>::workspace() const {
  require(fft_.has_value(), "ToeplitzOperator", "a path by fft, this one is direct");
  Workspace work{{layout_.phases, layout_.length}, {2, layout_.length}, {2, layout_.length}};
  work.in.fill_zero();
  return work;
}

// T (factor o x) or T^T (factor o x), given to use(pair, first place, count of places) two phases at a time.
template <typename T>
template <typename Use>
void ToeplitzOperator<T>::convolve(const T* factor, const T* x, bool transposed, Spectra<T>* kept, Workspace& work,
                                   const Use& use) const {
  const arma::uword pairs = work.transforms.pairs(), each = 2 * layout_.positions;
  for (arma::uword p = 0; p < pairs; ++p) {
    T* pair = work.in.numbers(0);
    for (arma::uword i = 0; i < each; ++i) pair[i] = factor[p * each + i] * x[p * each + i];
    fft_->forward(work.in, 0, work.transforms, p);
  }
  multiply_phases(layout_.phases, *kernel_, transposed, work.transforms, kept);
  for (arma::uword p = 0; p < pairs; ++p) {
    fft_->backward(work.transforms, p, work.out, 0);
    use(work.out.numbers(0), p * each, each);
  }
}

template <typename T>
void ToeplitzOperator<T>::accumulate(const T* outer, const T* inner, const T* x, T* y, bool transposed,
                                     Workspace& work) const {
  convolve(inner, x, transposed, nullptr, work, [&](const T* pair, arma::uword first, arma::uword count) {
    for (arma::uword i = 0; i < count; ++i) y[first + i] += outer[first + i] * pair[i];
  });
}

template <typename T>
void ToeplitzOperator<T>::convolved(const T* factor, const T* x, T* y, bool transposed, Spectra<T>& spectra,
                                    Workspace& work) const {
  convolve(factor, x, transposed, &spectra, work,
           [&](const T* pair, arma::uword first, arma::uword count) { std::copy_n(pair, count, y + first); });
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
    const arma::Col<T> ones(layout_.places(), arma::fill::ones);
    const arma::Mat<T> in_phases = layout_.in_phases(x, n());
    arma::Mat<T> sums(arma::size(in_phases), arma::fill::zeros);
    parallel_for((x.n_cols + kColumnsPerTask - 1) / kColumnsPerTask, [&](std::size_t task) {
      Workspace work = workspace();
      const arma::uword first = task * kColumnsPerTask, end = std::min(first + kColumnsPerTask, x.n_cols);
      for (arma::uword k = first; k < end; ++k) {
        accumulate(ones.memptr(), ones.memptr(), in_phases.colptr(k), sums.colptr(k), transposed, work);
      }
    });
    return layout_.in_tokens(sums, n(), n());
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
