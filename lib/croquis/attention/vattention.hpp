// vAttention: some keys for certain, and as many uniform samples of the others as a pilot says are needed.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct VattentionOptions {
  enum class Certain {
    window,  ///< sinks and a window about the query
    oracle,  ///< sinks and the largest scores of the other keys, all of which are computed
  };
  enum class Verified {
    denominator,  ///< the row sum, to epsilon
    output,       ///< numerator and row sum, to epsilon / 4 and delta / 2 each (Lemma 4.2)
  };
  enum class Sides { two, one };         ///< the quantile at 1 - delta / 2; or at 1 - delta, as in the authors' code
  enum class Repeats { counted, once };  ///< a key that is drawn twice counts twice; or once, as in the authors' code
  Certain certain = Certain::window;
  Verified verified = Verified::denominator;
  double epsilon = 0.05, delta = 0.05;  ///< in (0, 1)
  Sides sides = Sides::two;
  Repeats repeats = Repeats::counted;
  arma::uword sinks = 4;  ///< the first keys, at most a quarter of d

  /// What the authors' code does.
  static VattentionOptions code() {
    return {Certain::window, Verified::denominator, 0.05, 0.05, Sides::one, Repeats::once, 4};
  }
};

/// O~_i = N~ / D~, N~ = sum_{j in F} a_ij V_j + (n_s / b) sum_{s <= b} a_{i,l_s} V_{l_s} and D~ the same without V
/// (Desai et al. 2025, Eq. 3). F are the keys that are met for certain, at most ceil(d / 2) of them; l_s are b keys of
/// the n_s others, uniform with replacement. b differs from query to query: it is sampling_budget() for the spread of
/// a_ij that a pilot of m / 4 of the others shows, m = d - |F|, at least the pilot, and with it at most m (the paper
/// has no such limit: `fallen_rows` are the queries that reach it). The keys of the pilot are not used again, so that b
/// and the samples are independent. A query that may meet at most d keys meets all of them; with m < 3 there is no
/// pilot. Guarantees: with samples that count as often as they are drawn, E D~ = D and E N~ = N. Rows of B~ are
/// non-negative and
///   sum to 1. Exact for d = n_k. P(|D~ - D| > epsilon D) <= delta for the rows that are not limited, as far as the
///   central limit theorem and the pilot's estimates hold: docs/claims/vattention.md.
/// Causal: of the keys up to the query's own.
/// Randomness: number s of query i is place_of(word s of draw_key.child("pilot").child(i), n_s), and of
///   draw_key.child("keys").child(i), among the others in order.
/// Cost: at most d keys a query, n_q d (2 (p + p_v) + 1) flops; oracle: 2 n_q n_k p more. 1 <= d <= n_k.
template <typename T>
Approximation<T> vattention(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const VattentionOptions& options = {});

/// b of Lemma 4.1, not rounded: (z n_s spread / tolerance)^2, z the quantile of the normal distribution at 1 - delta /
/// 2, spread the square root of the trace of the covariance of n_s vectors, of whose sum n_s / b times that of b
/// uniform ones shall be off by at most `tolerance`. 0 where there is no spread.
double sampling_budget(double n_s, double spread, double tolerance, double delta);

template <typename T>
Method<T> vattention_method();

}  // namespace croquis
