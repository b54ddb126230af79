// Johnson and Lindenstrauss in Linformer: its Lemma 1 (norms and products) and Theorem 1.
#pragma once

#include "claims/claim.hpp"

Report check_jl_norm(const Check& check);               ///< lin.jl-norm
Report check_jl_product_stated(const Check& check);     ///< lin.jl-product.stated
Report check_jl_product_corrected(const Check& check);  ///< lin.jl-product.corrected
Report check_low_rank_stated(const Check& check);       ///< lin.thm1.stated
Report check_low_rank_corrected(const Check& check);    ///< lin.thm1.corrected
