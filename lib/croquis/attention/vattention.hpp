// vAttention: some keys with certainty, and as many uniform samples of the others as a pilot shows to be needed.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct VattentionOptions {
  enum class Certain {
    window,  ///< sinks and a window about the query's own key
    oracle,  ///< sinks and the largest scores of the other keys, all of which are computed
  };
  enum class Verified {
    denominator,  ///< the row sum, to a relative error epsilon
    output,       ///< numerator and row sum, to epsilon / 4 with probability 1 - delta / 2 each (Lemma 4.2)
  };
  enum class Sides { two, one };         ///< the quantile at 1 - delta / 2; or at 1 - delta, as in the authors' code
  enum class Repeats { counted, once };  ///< a key that is drawn twice counts twice; or once, as in the authors' code
  Certain certain = Certain::window;
  Verified verified = Verified::denominator;
  double epsilon = 0.05, delta = 0.05;  ///< epsilon > 0, 0 < delta <= 1/2
  Sides sides = Sides::two;
  Repeats repeats = Repeats::counted;
  arma::uword sinks = 4;  ///< the first keys; limited to a quarter of d

  /// The default values of the authors' code.
  static VattentionOptions code() {
    return {Certain::window, Verified::denominator, 0.05, 0.05, Sides::one, Repeats::once, 4};
  }
};

/// O~_i = N~ / D~, N~ = sum_{j in F} a_ij V_j + (n_s / b) sum_{s <= b} a_{i,l_s} V_{l_s}, and D~ is the same without V
/// (Desai et al. 2025, Eq. 3). F are the keys that are always included, at most ceil(d / 2) of them; l_s are b of the
/// n_s other keys, uniform with replacement. b differs from query to query: it is sampling_budget() for the spread of
/// the a_ij in a pilot of max(2, m / 4) of the others, rounded down, where m = d - |F|; b is at least the size of the
/// pilot, and pilot and b together are at most m. (The paper has no such limit: `fallen_rows` is the number of queries
/// limited by it.) The keys of the pilot are not used again, so that b and the samples are independent. A query for
/// which at most d keys are not masked attends to all of them. With m < 3 there is no pilot, b = m, and the query
/// counts as limited.
/// Guarantees: if repeated samples are counted and m >= 1, E D~ = D and E N~ = N. Rows of B~ are non-negative and sum
///   to 1. Exact for d = n_k. P(|D~ - D| > epsilon D) <= delta for the rows that are not limited, as far as the central
///   limit theorem and the pilot's estimates hold: docs/claims/vattention.md.
/// Causal: only keys up to the query's own.
/// Randomness: sample s of query i, in the order of the other keys, is place_of(word s, n_s) with the words of
///   draw_key.child("pilot").child(i) for the pilot, and of draw_key.child("keys").child(i) for the samples.
/// Cost: at most d keys for each query, n_q d (2 (p + p_v) + 1) flops; oracle: 2 n_q n_k p more. 1 <= d <= n_k.
template <typename T>
Approximation<T> vattention(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const VattentionOptions& options = {});

/// The b of Lemma 4.1, not rounded: (z n_s spread / tolerance)^2, where z is the quantile of the normal distribution at
/// 1 - delta / 2 and spread the square root of the trace of the covariance of n_s vectors. The sum of b uniform ones of
/// these vectors, times n_s / b, then differs from the sum of all by at most `tolerance` with probability at least 1 -
/// delta, in the limit of a small tolerance, if the vectors are numbers or delta < 0.215; not for all vectors and
/// larger delta (docs/claims/vattention.md, T2). 0 if spread is 0. Throws std::invalid_argument unless 0 < delta <= 1.
double sampling_budget(double n_s, double spread, double tolerance, double delta);

template <typename T>
Method<T> vattention_method();

}  // namespace croquis
