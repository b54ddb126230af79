// Plain implementations of the methods of Skeinformer's Table 5 that count their work.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/features/feature_maps.hpp>
#include <croquis/random/key.hpp>

/// What was computed, and with how many multiply-adds in matrix products.
struct CountedOutput {
  arma::mat output;
  double multiply_adds = 0;
  double rounding = 0;  ///< |output - exact arithmetic| of a row, norm-wise: any order of the sums
};

CountedOutput counted_exact(const croquis::Problem<double>& problem);
CountedOutput counted_linformer(const croquis::Problem<double>& problem, arma::uword d, const croquis::Key& draw_key);
CountedOutput counted_nystromformer(const croquis::Problem<double>& problem, arma::uword d);
CountedOutput counted_informer(const croquis::Problem<double>& problem, arma::uword d, const croquis::Key& draw_key);
/// With directions of its own for every feature (prf), or one for two (trf).
CountedOutput counted_performer(const croquis::Problem<double>& problem, arma::uword d, croquis::FeatureMap map,
                                const croquis::Key& draw_key);
/// `exact_norms`: probabilities from all rows of B in the place of d pilot rows (a deliberate mistake).
CountedOutput counted_skeinformer(const croquis::Problem<double>& problem, arma::uword d, bool exact_norms,
                                  const croquis::Key& draw_key);
/// Of the score matrix of the library: a product with a key and one with a value for each entry that is not zero.
CountedOutput counted_bigbird(const croquis::Problem<double>& problem, arma::uword d, arma::uword block,
                              const croquis::Key& draw_key);
