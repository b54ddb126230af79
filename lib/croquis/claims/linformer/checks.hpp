// The checks of Linformer's claims.
#pragma once

#include <cmath>
#include <croquis/claims/claim.hpp>
#include <vector>

namespace croquis::claims {

/// 5 log n / (eps^2 - eps^3), the number of rows of R in the proof of Theorem 1, rounded up.
inline double rank_of_proof(double epsilon, double n) {
  return std::ceil(5 * std::log(n) / (epsilon * epsilon * (1 - epsilon)));
}

// spectrum.cpp: Fig. 1 and the truncated decomposition.
Report check_spectrum_strict(const Check& check);      ///< lin.spectrum/strict
Report check_spectrum_charitable(const Check& check);  ///< lin.spectrum/charitable
Report check_spectrum_layers(const Check& check);      ///< lin.spectrum/layers
Report check_truncation_strict(const Check& check);    ///< lin.eckart-young/strict
Report check_truncation_given(const Check& check);     ///< lin.eckart-young/charitable

// low_rank.cpp: Theorem 1.
Report check_low_rank_strict(const Check& check);        ///< lin.thm1/strict
Report check_low_rank_trivial(const Check& check);       ///< lin.thm1/charitable
Report check_low_rank_for_values(const Check& check);    ///< lin.thm1/one-matrix-for-v
Report check_low_rank_oblivious(const Check& check);     ///< lin.thm1/oblivious
Report check_low_rank_construction(const Check& check);  ///< lin.thm1/construction
Report check_low_rank_corrected(const Check& check);     ///< lin.thm1/corrected

// embedding.cpp: Lemma 1.
Report check_jl_norm(const Check& check);               ///< lin.jl-norm/strict
Report check_jl_product_strict(const Check& check);     ///< lin.jl-product/strict
Report check_jl_product_corrected(const Check& check);  ///< lin.jl-product/corrected

// exponentials.cpp: the steps of the proof of Theorem 2.
Report check_exponentials(const Check& check);       ///< lin.eq9/strict
Report check_small_delta(const Check& check);        ///< lin.eq23/strict
Report check_coefficients_any(const Check& check);   ///< lin.eq26/strict
Report check_coefficients_best(const Check& check);  ///< lin.eq26/charitable
Report check_last_line(const Check& check);          ///< lin.eq26/last-line

// linear_attention.cpp: Theorem 2, softmax(w E^T) F V for softmax(w) V.
Report check_construction(const Check& check);      ///< lin.thm2/construction
Report check_sampled_keys(const Check& check);      ///< lin.thm2/charitable
Report check_every_projection(const Check& check);  ///< lin.thm2/strict
Report check_existence(const Check& check);         ///< lin.thm2/fixed-width

// The records: theorem2_claims.cpp, which claims.cpp puts behind the others, and what both say.
std::vector<Claim> theorem2_claims();  ///< from lin.eq9 to lin.thm2
inline constexpr const char* kLinformerPage = "docs/claims/linformer.md";
inline constexpr const char* kGaussianProjection = "R is k x n with independent N(0, 1/k) entries; 0 < eps < 1.";

}  // namespace croquis::claims
