#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/sampling/token_kernel.hpp>
#include <limits>

namespace croquis {
namespace {

constexpr std::size_t kTokensOfWalk = 64;   // a block of tokens whose sums with all before them are taken at once
constexpr std::size_t kTokensBefore = 512;  // of those, what one thread takes at once

template <typename T>
arma::Mat<T> columns_at(const arma::Mat<T>& m, const std::vector<std::uint32_t>& indices, std::size_t first,
                        std::size_t count) {
  arma::Mat<T> chosen(m.n_rows, count, arma::fill::none);
  for (std::size_t j = 0; j < count; ++j) chosen.col(j) = m.col(indices[first + j]);
  return chosen;
}

}  // namespace

template <typename T>
TokenKernel<T>::TokenKernel(const arma::Mat<T>& keys, const arma::Mat<T>& values, T constant)
    : keys_(keys.t() * static_cast<T>(std::pow(static_cast<double>(keys.n_cols), -0.25))),
      values_(values.t()),
      constant_(constant) {
  require(keys.n_rows == values.n_rows && keys.n_rows >= 1, "TokenKernel", "as many values as keys, at least one",
          {{"keys", keys.n_rows}, {"values", values.n_rows}});
  log_squares_ = squared_row_norms<T>(keys_.t());
  const T largest = arma::abs(values_).max();
  if (largest > 0) values_ /= largest;
}

template <typename T>
void TokenKernel<T>::require_tokens(const std::vector<std::uint32_t>& tokens, std::string_view where) const {
  for (const std::uint32_t token : tokens) {
    if (token >= size()) require(false, where, "tokens of the kernel", {{"token", token}, {"tokens", size()}});
  }
}

template <typename T>
arma::Mat<T> TokenKernel<T>::Factors::over(const arma::Col<T>& log_units) const {
  arma::Mat<T> h = exponents.each_col() - log_units;
  exp_shifted(h.memptr(), h.n_elem, T(0));
  h %= of_values;
  return h;
}

template <typename T>
typename TokenKernel<T>::Factors TokenKernel<T>::factors(const std::vector<std::uint32_t>& rows,
                                                         const std::vector<std::uint32_t>& cols, std::size_t first,
                                                         std::size_t count) const {
  const SerialBlas serial;
  const auto between = [&](const arma::Mat<T>& tokens) {
    return product_tn(columns_at(tokens, rows, 0, rows.size()), columns_at(tokens, cols, first, count));
  };
  return {between(keys_), between(values_) + constant_};
}

template <typename T>
std::vector<T> signed_walk(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& tokens, std::size_t step,
                           const std::function<void(const WalkStep<T>&, T* signs)>& decide) {
  require(step >= 1 && kTokensOfWalk % step == 0 && tokens.size() % step == 0, "signed_walk",
          "tokens in whole steps, which divide 64", {{"tokens", tokens.size()}, {"step", step}});
  std::vector<T> signs(tokens.size());
  T most_so_far = -std::numeric_limits<T>::infinity();
  for (std::size_t start = 0; start < tokens.size(); start += kTokensOfWalk) {
    const std::size_t size = std::min(kTokensOfWalk, tokens.size() - start);
    const std::vector<std::uint32_t> own(tokens.begin() + static_cast<std::ptrdiff_t>(start),
                                         tokens.begin() + static_cast<std::ptrdiff_t>(start + size));
    arma::Col<T> of_step(size), most(size);
    for (std::size_t a = 0; a < size; ++a) {
      const auto* first = own.data() + a / step * step;
      of_step[a] = kernel.log_square(*std::max_element(
          first, first + step, [&](auto i, auto j) { return kernel.log_square(i) < kernel.log_square(j); }));
      most[a] = most_so_far = std::max(most_so_far, of_step[a]);
    }
    const arma::Col<T> units = T(0.5) * (of_step + most);
    const std::size_t parts = blocks_of(start, kTokensBefore);
    std::vector<arma::Col<T>> sums(parts);
    parallel_for(parts, [&](std::size_t part) {
      const std::size_t first = part * kTokensBefore, count = std::min(kTokensBefore, start - first);
      sums[part] = kernel.factors(own, tokens, first, count).over(units) *
                   arma::Col<T>(signs.data() + first, count, false, true);
    });
    arma::Col<T> along(size, arma::fill::zeros);
    for (const arma::Col<T>& sum : sums) along += sum;
    const typename TokenKernel<T>::Factors inner = kernel.factors(own, own, 0, size);
    const arma::Mat<T> over_units = inner.over(units);
    for (std::size_t a = 0; a < size; a += step) {
      const std::size_t last = a + step - 1;
      decide(
          {start + a,
           arma::exp(inner.exponents.submat(a, a, last, last) - of_step[a]) % inner.of_values.submat(a, a, last, last),
           along.subvec(a, last), of_step[a], most[a]},
          signs.data() + start + a);
      if (last + 1 == size) break;
      // Entries of tokens before these may overflow.
      for (std::size_t b = a; b <= last; ++b) {
        along.tail(size - 1 - last) += signs[start + b] * over_units.submat(last + 1, b, size - 1, b);
      }
    }
  }
  return signs;
}

double walk_entries(double tokens) {
  const auto block = static_cast<double>(kTokensOfWalk), whole = std::floor(tokens / block),
             rest = tokens - whole * block;
  return block * block * whole * (whole + 1) / 2 + rest * tokens;
}

template class TokenKernel<float>;
template class TokenKernel<double>;
template std::vector<float> signed_walk(const TokenKernel<float>&, const std::vector<std::uint32_t>&, std::size_t,
                                        const std::function<void(const WalkStep<float>&, float*)>&);
template std::vector<double> signed_walk(const TokenKernel<double>&, const std::vector<std::uint32_t>&, std::size_t,
                                         const std::function<void(const WalkStep<double>&, double*)>&);

}  // namespace croquis
