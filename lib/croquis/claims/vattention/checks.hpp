// The checks of vAttention's claims.
#pragma once

#include <croquis/claims/claim.hpp>

namespace croquis::claims {

// sums.cpp: Lemma 4.1, the number of samples for a sum, and Lemma 4.2, the quotient of two.
Report check_budget_strict(const Check& check);     ///< vat.lemma41/strict
Report check_budget_limit(const Check& check);      ///< vat.lemma41/charitable
Report check_budget_any_delta(const Check& check);  ///< vat.lemma41/any-delta
Report check_quotient(const Check& check);          ///< vat.lemma42/strict

// verified.cpp: row sums to epsilon with probability 1 - delta, by a pilot.
Report check_verified_known(const Check& check);  ///< vat.verified-d/known
Report check_verified_pilot(const Check& check);  ///< vat.verified-d/charitable
Report check_verified_code(const Check& check);   ///< vat.verified-d/code

}  // namespace croquis::claims
