// WildCat: a weighted coreset of the keys by randomly pivoted Cholesky.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct WildcatOptions {
  enum class Pivots {
    exponential,  ///< from the residual of h(k, l) = exp(k.l / (tau^2 sqrt(p))), as Alg. 1
    gaussian,     ///< from that of h(k, l) / sqrt(h(k, k) h(l, l)), as the authors' code
  };
  Pivots pivots = Pivots::exponential;
  double temperature = 0;  ///< tau > 0; 0: wildcat_scale()

  /// What the authors' code does.
  static WildcatOptions code() { return {.pivots = Pivots::gaussian, .temperature = 0}; }
};

/// O~ = exp(Q K_S^T / sqrt(p)) (W V) ./ exp(Q K_S^T / sqrt(p)) (W 1) for d of the keys, S, which are pivots of a
/// randomly pivoted Cholesky decomposition, and the Nystrom weights W = h(K_S, K_S)^+ h(K_S, K), h(k, l) = exp(k.l /
/// (tau^2 sqrt(p))) (Schroder & Mackey 2026, Alg. 1 to 3). Keys are first moved to their mean (Sec. 2.4), which changes
/// h but not attention.
/// W minimises, for every key l, the error of exp(k_l.x) as a combination of exp(k_s.x) in the space of the kernel h,
/// and has entries of either sign. h is a Gaussian kernel between the square roots of its diagonal, which are
/// logarithms here, so that nothing overflows. W comes from the factor of the pivots, and repeated keys, of which
/// rounding is all that is left, are no pivots.
///
/// Guarantees: rows of B~ sum to 1. All of the keys, d = n_k, are exact attention: W = I. At most
///   |exp(q.k_l / sqrt(p)) - its approximation| <= exp(tau^2 ||q||^2 / (2 sqrt(p))) r_l^{1/2}, r_l the residual of key
///   l, since the kernel reproduces. The output is not limited to the range of the values, as Alg. 3 does: that is not
///   linear in V.
/// Randomness: rp_cholesky of draw_key.child("pivots").
/// Cost: see wildcat_flops. 1 <= d <= n_k.
/// Throws std::runtime_error when a denominator is 0 (all weights of a row underflow).
template <typename T>
Approximation<T> wildcat(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const WildcatOptions& options = {});

/// 1 / (tau p^{1/4}) for tau of Eq. 4, tau^2 = (R_K / R_Q) b / (2 W_0(b / (2 rho))), b = log(n_k) sqrt(p) / (R_Q R_K) +
/// 2, rho^2 = 1 + exp(W_0(2 / e^2) + 2). R_Q and R_K >= 0 are the largest norms of queries and of centred keys; n_k >=
/// 2.
double wildcat_scale(double largest_query, double largest_key, double n_k, double p);

/// Leading terms: the kernel of d keys with all, the elimination n_k d^2, the values, and the d keys that a query
/// attends to.
double wildcat_flops(double n_q, double n_k, double p, double p_v, double d);

template <typename T>
Method<T> wildcat_method();

}  // namespace croquis
