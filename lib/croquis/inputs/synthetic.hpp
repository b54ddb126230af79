// Synthetic families of problems.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/core/random.hpp>

namespace croquis {

struct GaussianInput {
  arma::uword n = 1024, p = 64;  ///< tokens, and width of queries, keys and values; >= 1
  double norm = 8.0;             ///< root mean square norm of a query or key, >= 0; sqrt(p) makes the entries N(0,1)
};

/// Q and K with independent N(0, norm^2 / p) entries, V with independent N(0,1) entries.
/// Randomness: children "query", "key" and "value" of the stream.
Problem<double> gaussian_input(const Stream& stream, const GaussianInput& options = {});

}  // namespace croquis
