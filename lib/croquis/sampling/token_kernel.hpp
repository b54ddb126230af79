// The kernel of keys and values together: attention computes sums in its space.
#pragma once

#include <armadillo>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace croquis {

/// h((k, v), (k', v')) = exp(k.k' / sqrt(p)) (v.v' / b^2 + c), where b is the largest |entry| of V. If a signed sum of
/// tokens is small in the space of h, then the sums of exp(q.k / sqrt(p)) and of exp(q.k / sqrt(p)) v with the same
/// signs are small for every q: with c = 1, h is the kernel of the values (v / b, 1), whose last entry stands for the
/// row sum. With V = 0 the factor of the values is c. The two factors come apart, because the first may overflow.
template <typename T>
class TokenKernel {
 public:
  TokenKernel(const arma::Mat<T>& keys, const arma::Mat<T>& values, T constant = 1);

  arma::uword size() const { return keys_.n_cols; }
  /// Throws std::invalid_argument for a token that is not below size().
  void require_tokens(const std::vector<std::uint32_t>& tokens, std::string_view where) const;
  /// ||k||^2 / sqrt(p) of a token: k.k' / sqrt(p) is at most the mean of those of both.
  T log_square(std::uint32_t token) const { return log_squares_[token]; }
  /// The factors of h between the tokens `rows` and the tokens first ... first + count - 1 of `cols`: |rows| x count.
  /// On one thread, or on several if there are many; the bits are the same for any number.
  struct Factors {
    arma::Mat<T> exponents, of_values;
    /// h divided by e^u, with the u of each row.
    arma::Mat<T> over(const arma::Col<T>& log_units) const;
  };
  Factors factors(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& cols, std::size_t first,
                  std::size_t count) const;

  /// The flops for one entry.
  static double entry_flops(double p, double p_v) { return 2 * (p + p_v) + 1; }

 private:
  arma::Mat<T> keys_, values_;  // scaled, a token a column
  arma::Col<T> log_squares_;
  T constant_;
};

/// The input of one decision of a walk: the tokens first ... first + step - 1, their kernel inner(a, b) divided by
/// e^own, and along(a), the sum of sign(l) h(l, first + a) over the tokens l before `first`, divided by e^((own + most)
/// / 2). Here `own` is the largest log_square() of the step, and `most` that of the step and all before it. So nothing
/// overflows, and what underflows is small beside the largest h(l, l) so far.
template <typename T>
struct WalkStep {
  std::size_t first;
  arma::Mat<T> inner;
  arma::Col<T> along;
  T own, most;
};

/// The signs of `tokens`, whose number must be a multiple of `step`, which must divide 64. `decide` writes `step` signs
/// at a time, one step after the other, so that each step depends on the sum of the signed tokens before it. The bits
/// are the same for any number of threads.
/// Cost: |tokens| (|tokens| + 64) / 2 entries of the kernel.
/// Throws: std::invalid_argument for other numbers of tokens or steps.
template <typename T>
std::vector<T> signed_walk(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& tokens, std::size_t step,
                           const std::function<void(const WalkStep<T>&, T* signs)>& decide);

/// The number of kernel entries that signed_walk() computes.
double walk_entries(double tokens);

}  // namespace croquis
