// The checks of Skeinformer's claims.
#pragma once

#include <croquis/claims/claim.hpp>
#include <vector>

namespace croquis::claims {

Report check_unbiased(const Check& check);                   ///< ske.unbiased/enumerated
Report check_unbiased_gaussian(const Check& check);          ///< ske.unbiased/gaussian
Report check_jl(const Check& check);                         ///< ske.jl/gaussian
Report check_ratio_strict(const Check& check);               ///< ske.ratio/strict
Report check_ratio_corrected(const Check& check);            ///< ske.ratio/corrected
Report check_informer_order_strict(const Check& check);      ///< ske.informer-order/strict
Report check_informer_order_heads(const Check& check);       ///< ske.informer-order/heads
Report check_product_strict(const Check& check);             ///< ske.prop1/strict
Report check_product_corrected(const Check& check);          ///< ske.prop1/corrected
Report check_pilot_as_stated(const Check& check);            ///< ske.lemma1.stated/strict
Report check_pilot_corrected(const Check& check);            ///< ske.lemma1.corrected/bernstein
Report check_pilot_sharper(const Check& check);              ///< ske.lemma1.corrected/sharper
Report check_pilot_size_strict(const Check& check);          ///< ske.pilot-size/strict
Report check_pilot_size_charitable(const Check& check);      ///< ske.pilot-size/charitable
Report check_complexity_strict(const Check& check);          ///< ske.complexity/strict
Report check_complexity(const Check& check);                 ///< ske.complexity/charitable
Report check_algorithm(const Check& check);                  ///< ske.alg1/identity
Report check_v_mean_is_empty(const Check& check);            ///< ske.alg1/v-mean
Report check_without_replacement(const Check& check);        ///< ske.alg1/unbiased
Report check_figure_strict(const Check& check);              ///< ske.fig1/strict
Report check_figure_charitable(const Check& check);          ///< ske.fig1/charitable
Report check_v_mean_acceptable(const Check& check);          ///< ske.vmean/threshold
Report check_flops_pairs(const Check& check);                ///< ske.flops/rff
Report check_flops_positive(const Check& check);             ///< ske.flops/positive-features
Report check_flops_nystromformer(const Check& check);        ///< ske.flops/nystromformer
Report check_flops_nystromformer_order(const Check& check);  ///< ske.flops/nystromformer-order
Report check_flops_others(const Check& check);               ///< ske.flops/others

// The records: algorithm_claims.cpp, which claims.cpp puts behind the others.
std::vector<Claim> algorithm_claims();  ///< from ske.complexity to ske.vmean
std::vector<Claim> flops_claims();      ///< ske.flops

}  // namespace croquis::claims
