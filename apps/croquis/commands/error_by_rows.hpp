// croquis error --by-rows: one head whose tokens are divided over the ranks of mpirun.
#pragma once

#include "commands/error.hpp"

/// All ranks work on one cell after the other. Q, K and V come from .npy files, of which each rank reads its rows;
/// errors are those of --rows. Returns the exit status. Throws std::invalid_argument for what does not go with it.
int run_error_by_rows(const ErrorOptions& options);
