// Linformer Theorem 2: softmax(w E^T) F V for softmax(w) V.
#pragma once

#include "claims/claim.hpp"

Report check_construction(const Check& check);  ///< lin.thm2.construction
Report check_existence(const Check& check);     ///< lin.thm2.existence
