// The kernel of keys and values together, whose sums are what attention computes.
#pragma once

#include <armadillo>
#include <cstdint>
#include <functional>
#include <vector>

namespace croquis {

/// h((k, v), (k', v')) = exp(k.k' / sqrt(p) - s) (v.v' / b^2 + c), b the largest entry of |V| and s the largest
/// ||k||^2 / sqrt(p), so that the factor of the keys is at most 1. Where a signed sum of tokens is small in the space
/// of h, the sum of the same signs of exp(q.k / sqrt(p)) and of exp(q.k / sqrt(p)) v is small for every q: with c = 1,
/// (v / b, 1) is the value and the one of its row sum. With V = 0 the factor of the values is c.
template <typename T>
class TokenKernel {
 public:
  TokenKernel(const arma::Mat<T>& keys, const arma::Mat<T>& values, T constant = 1);

  arma::uword size() const { return keys_.n_cols; }
  /// h between tokens `rows` and tokens first ... first + count - 1 of `cols`: |rows| x count. One thread or, where
  /// many, several; the same bits for any number.
  arma::Mat<T> block(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& cols, std::size_t first,
                     std::size_t count) const;

  /// Flops of one entry.
  static double entry_flops(double p, double p_v) { return 2 * (p + p_v) + 1; }

 private:
  arma::Mat<T> keys_, values_;  // scaled, a token a column
  T constant_, shift_;
};

/// What a walk is about to sign: tokens first ... first + step - 1, inner(a, b) their kernel, and along(a) = sum over
/// the tokens l before them of sign(l) h(l, first + a).
template <typename T>
struct WalkStep {
  std::size_t first;
  arma::Mat<T> inner;
  arma::Col<T> along;
};

/// Signs of `tokens` (as many as a multiple of `step`), given `step` at a time by `decide`, which writes them where it
/// is told: one after the other, so that each sees the sum of those before it.
/// Cost: |tokens| (|tokens| + 64) / 2 entries of the kernel. The same bits for any number of threads.
template <typename T>
std::vector<T> signed_walk(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& tokens, std::size_t step,
                           const std::function<void(const WalkStep<T>&, T* signs)>& decide);

/// The entries that signed_walk() computes.
double walk_entries(double tokens);

}  // namespace croquis
