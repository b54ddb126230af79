// WildCat: a weighted coreset of the keys by randomly pivoted Cholesky.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct WildcatOptions {
  enum class Pivots {
    exponential,  ///< drawn from the residual of h(k, l) = exp(k.l / (tau^2 sqrt(p))), as in Alg. 1 and in the code
    gaussian,     ///< drawn from that of h(k, l) / sqrt(h(k, k) h(l, l)), a variant of Croquis' own
  };
  Pivots pivots = Pivots::exponential;
  double temperature = 0;  ///< tau > 0; 0: wildcat_scale()
};

/// O~ = exp(Q K_S^T / sqrt(p)) (W V) ./ exp(Q K_S^T / sqrt(p)) (W 1), where S are d of the keys, the pivots of a
/// randomly pivoted Cholesky decomposition, W = h(K_S, K_S)^+ h(K_S, K) their Nystrom weights, and h(k, l) = exp(k.l /
/// (tau^2 sqrt(p))) (Schroder & Mackey 2026, Alg. 1 to 3). Keys are first centred at their mean (Sec. 2.4), which
/// changes h but not attention.
///
/// For every key l, W minimises the error of exp(k_l.x) as a combination of the exp(k_s.x), in the norm of the kernel
/// h; its entries have either sign. h is a Gaussian kernel scaled by the square roots of its diagonal, which are stored
/// as logarithms, so nothing overflows. At the pivots W is the identity; for the other keys it is computed from the
/// factor of the pivots. Equal keys count as one key, so rounding cannot tell them apart, and O~ is exact as soon as
/// all different keys are pivots. Keys whose residual is only rounding are not drawn.
///
/// An entry of W for key l and pivot s has a rounding error of about u h(k_s, k_l) / h(k_s, k_s), which may be large
/// where long keys are nearly dependent on others and a query attends to short ones. One more column of the product
/// estimates what that error changes in each row.
///
/// Guarantees: rows of B~ sum to 1. d = n_k is exact, with W = I. |exp(q.k_l / sqrt(p)) - its approximation| <=
///   exp(tau^2 ||q||^2 / (2 sqrt(p))) r_l^{1/2}, where r_l is the residual of key l, by the reproducing property of h.
///   The output is not clipped to the range of the values, as in Alg. 3, because that is not linear in V.
/// Randomness: rp_cholesky on draw_key.child("pivots").
/// Cost: see wildcat_flops. 1 <= d <= n_k.
/// Throws: std::runtime_error if a denominator is 0 (all weights of a row underflow), or where that estimate for a row,
///   which is no bound, exceeds a hundredth of its denominator. std::invalid_argument for a temperature at which the
///   exponents of h overflow.
template <typename T>
Approximation<T> wildcat(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const WildcatOptions& options = {});

/// 1 / (tau p^{1/4}) for the tau of Eq. 4: tau^2 = (R_K / R_Q) b / (2 W_0(b / (2 rho))) with b = log(n_k) sqrt(p) /
/// (R_Q R_K) + 2, rho^2 = 1 + exp(W_0(2 / e^2) + 2) and the Lambert function W_0. R_Q and R_K >= 0 are the largest
/// norms of queries and of centred keys; n_k >= 2. R_Q / sqrt(p) where b is infinite in double: the keys are equal, or
/// scores differ by less than 1e-305.
double wildcat_scale(double largest_query, double largest_key, double n_k, double p);

/// The leading terms of the flops of wildcat(): the kernel of d keys with all keys, the elimination, n_k d^2, the
/// weighted values, 2 n_k d (p_v + 1), and d keys for each query. For d = n_k, those of exact attention.
double wildcat_flops(double n_q, double n_k, double p, double p_v, double d);

template <typename T>
Method<T> wildcat_method();

}  // namespace croquis
