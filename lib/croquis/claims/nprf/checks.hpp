// The checks of NPRF's claims on relative positions and random features.
#pragma once

#include <croquis/claims/claim.hpp>
#include <vector>

namespace croquis::claims {

Report check_expressiveness(const Check& check);           ///< rpe.prop1/strict
Report check_approximable_strict(const Check& check);      ///< rpe.approximable/strict
Report check_approximable_charitable(const Check& check);  ///< rpe.approximable/charitable
Report check_approximable_existence(const Check& check);   ///< rpe.approximable/existence
Report check_toeplitz(const Check& check);                 ///< rpe.toeplitz/norm-wise
/// error / allowed of one number; 0 where both are 0, as for a column of V that is 0.
double part_of_allowed(double error, double allowed);
/// The error of the product of a random bias with x (1 x n) by Fourier transform over its bound.
double toeplitz_share(const arma::mat& x, const Check& check);
Report check_toeplitz_entries(const Check& check);          ///< rpe.toeplitz/entry-wise
Report check_algorithm_normalised(const Check& check);      ///< rpe.alg1/charitable
Report check_algorithm_zero_rows(const Check& check);       ///< rpe.alg1/strict
Report check_feature_variance(const Check& check);          ///< rpe.lemma2/strict
Report check_gaussian_rows(const Check& check);             ///< rpe.unbiased/gaussian-rows
Report check_other_rows(const Check& check);                ///< rpe.unbiased/other-rows
Report check_unsigned_rows(const Check& check);             ///< rpe.unbiased/qr-unsigned
Report check_feature_number_strict(const Check& check);     ///< rpe.thm3/strict
Report check_feature_number(const Check& check);            ///< rpe.thm3/charitable
Report check_feature_number_corrected(const Check& check);  ///< rpe.thm3/corrected
Report check_feature_number_sharper(const Check& check);    ///< rpe.thm3/sharper
Report check_feature_number_trf(const Check& check);        ///< rpe.thm3/trf
Report check_every_input(const Check& check);               ///< rpe.thm3.necessity/every-input
Report check_some_input(const Check& check);                ///< rpe.thm3.necessity/some-input
Report check_exponent(const Check& check);                  ///< rpe.thm3.necessity/exponent
Report check_lower_exponent(const Check& check);            ///< rpe.thm3.necessity/lower-exponent
Report check_small_error(const Check& check);               ///< rpe.thm3.necessity/small-error
Report check_figure(const Check& check);                    ///< rpe.fig1b/threshold
Report check_sharp_norms(const Check& check);               ///< rpe.sharp/norms
Report check_sharp_bias(const Check& check);                ///< rpe.sharp/bias
Report check_gradient_absolute(const Check& check);         ///< rpe.gradient/absolute
Report check_gradient_relative(const Check& check);         ///< rpe.gradient/relative
Report check_gradient_explosion(const Check& check);        ///< rpe.gradient/explosion
Report check_gradient_direction(const Check& check);        ///< rpe.gradient/direction
Report check_gradient_normalised(const Check& check);       ///< rpe.gradient/normalised
Report check_fft_cost(const Check& check);                  ///< rpe.fftcost/strict

// The records: feature_claims.cpp, which claims.cpp puts among the others.
std::vector<Claim> feature_claims();  ///< rpe.lemma2, rpe.unbiased
std::vector<Claim> number_claims();   ///< rpe.thm3, rpe.fig1b: how many features

}  // namespace croquis::claims
