// Plain implementations of the methods of Skeinformer's Table 5 that count their work.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/features/feature_maps.hpp>
#include <croquis/random/key.hpp>

namespace croquis::claims {

/// What was computed, and with how many multiply-adds in matrix products.
struct CountedOutput {
  arma::mat output;  ///< n x p_v
  double multiply_adds = 0;
  double rounding = 0;  ///< bound on the norm of a row's rounding error, for any order of the sums
};

// Straight from the papers, factor by factor: nothing is streamed, and n x n matrices are stored where a method has
// them. Softmax attention without padding and position; 1 <= d <= n. For the same key each has the draws of the
// library's method, so that its output is that method's up to rounding.
// They throw std::invalid_argument for a d that the sketch or sampling within cannot have.

/// n^2 (p + p_v) multiply-adds.
CountedOutput counted_exact(const Problem<double>& problem);
CountedOutput counted_linformer(const Problem<double>& problem, arma::uword d, const Key& draw_key);
/// Segment means as landmarks, and six steps of the iterative inverse; F (Z (G V)), or in the order that Nystromformer
/// writes, (F Z)(G V).
CountedOutput counted_nystromformer(const Problem<double>& problem, arma::uword d, bool as_written = false);
CountedOutput counted_informer(const Problem<double>& problem, arma::uword d, const Key& draw_key);
/// With directions of its own for every feature (prf), or one for two (trf).
CountedOutput counted_performer(const Problem<double>& problem, arma::uword d, FeatureMap map, const Key& draw_key);
/// `exact_norms`: probabilities from all rows of B in the place of d pilot rows (a deliberate mistake).
CountedOutput counted_skeinformer(const Problem<double>& problem, arma::uword d, bool exact_norms, const Key& draw_key);
/// From the library's score matrix: one product with a key and one with a value for each nonzero entry.
CountedOutput counted_bigbird(const Problem<double>& problem, arma::uword d, arma::uword block, const Key& draw_key);

}  // namespace croquis::claims
