// Inputs that are arrays in files: heads of somebody's own.
#pragma once

#include <vector>

#include "options/input.hpp"
#include "options/pending_head.hpp"

/// The heads in the files of --q, --k and --v or of --qkv that --head chooses: "arrays:FILE", "arrays:FILE;head=1"
/// where there are several, "arrays:FILE;batch=0;head=1" of four dimensions. With fewer heads of keys than of queries,
/// each is repeated by itself (repeat_interleave). Only headers are read; a head is when it is asked for. Throws
/// std::invalid_argument, with the option or the file, for what does not go together.
std::vector<PendingHead> from_arrays(const InputOptions& options);
