// The checks of Linformer's claims.
#pragma once

#include <croquis/claims/claim.hpp>

namespace croquis::claims {

// embedding.cpp: Johnson and Lindenstrauss in its Lemma 1 (norms and products) and Theorem 1.
Report check_jl_norm(const Check& check);               ///< lin.jl-norm
Report check_jl_product_stated(const Check& check);     ///< lin.jl-product.stated
Report check_jl_product_corrected(const Check& check);  ///< lin.jl-product.corrected
Report check_low_rank_stated(const Check& check);       ///< lin.thm1.stated
Report check_low_rank_corrected(const Check& check);    ///< lin.thm1.corrected

// linear_attention.cpp: Theorem 2, softmax(w E^T) F V for softmax(w) V.
Report check_construction(const Check& check);  ///< lin.thm2.construction
Report check_existence(const Check& check);     ///< lin.thm2.existence

}  // namespace croquis::claims
