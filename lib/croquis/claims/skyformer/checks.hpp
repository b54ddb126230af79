// The checks of Skyformer's claims.
#pragma once

#include <croquis/claims/claim.hpp>
#include <vector>

namespace croquis::claims {

Report check_lemma1(const Check& check);  ///< sky.lemma1/strict

// order.cpp
Report check_lift(const Check& check);   ///< sky.lift/strict
Report check_order(const Check& check);  ///< sky.thm2/order

// theorem2.cpp, coupons.cpp
Report check_theorem2_as_printed(const Check& check);  ///< sky.thm2/strict
Report check_theorem2(const Check& check);             ///< sky.thm2/charitable
Report check_smaller_constant(const Check& check);     ///< sky.thm2/smaller-constant
/// A number of uniform draws of 2n points that miss one of 2n - 2 of them with probability above delta, shown by two
/// terms of inclusion and exclusion. Requires n >= 8, delta <= 0.2.
double draws_that_fail(double n, double delta);

// lemma3.cpp, preconditioning.cpp
Report check_lemma3_strict(const Check& check);      ///< sky.lemma3/strict
Report check_lemma3_charitable(const Check& check);  ///< sky.lemma3/charitable
Report check_scaled_core(const Check& check);        ///< sky.assumption/definition-1
Report check_plain_core(const Check& check);         ///< sky.assumption/zero-one

Report check_bernstein(const Check& check);       ///< sky.lemmaC1/strict
Report check_multiplication(const Check& check);  ///< sky.lemmaC2/strict

// dimension.cpp
Report check_dimension_bound(const Check& check);  ///< sky.dstat-growth/charitable
Report check_dimension_far(const Check& check);    ///< sky.dstat-growth/strict

// conditioning.cpp
Report check_conditioning_of_a(const Check& check);   ///< sky.conditioning/against-a
Report check_conditioning_of_b(const Check& check);   ///< sky.conditioning/against-b
Report check_conditioning_table(const Check& check);  ///< sky.conditioning/charitable

// cores.cpp
Report check_interlacing(const Check& check);        ///< sky.core/interlacing
Report check_inherited(const Check& check);          ///< sky.core/inherits
Report check_instability(const Check& check);        ///< sky.instability/strict
Report check_instability_table(const Check& check);  ///< sky.instability/charitable
// instability.cpp
Report check_instability_before_norm(const Check& check);  ///< sky.instability/before-norm
Report check_instability_after_norm(const Check& check);   ///< sky.instability/after-norm
Report check_instability_fresh_masks(const Check& check);  ///< sky.instability/fresh-masks
Report check_gain_everywhere(const Check& check);          ///< sky.fig1/strict
Report check_gain(const Check& check);                     ///< sky.fig1/charitable

// The records: stability_claims.cpp, which claims.cpp puts behind the others.
std::vector<Claim> stability_claims();  ///< from sky.conditioning to sky.fig1

}  // namespace croquis::claims
