// Matrices of the program that are those of the library.
#pragma once

#include <armadillo>

namespace croquis {

// Settings of Armadillo that change what a matrix is in memory. The linker does not see them: with others than those of
// the library it would read the program's matrices as something else.
static_assert(sizeof(arma::uword) == 8, "Croquis is compiled without ARMA_32BIT_WORD, and so must be what calls it");
static_assert(arma::arma_config::mat_prealloc == 16,
              "Croquis is compiled without ARMA_MAT_PREALLOC, and so must be what calls it");

}  // namespace croquis
