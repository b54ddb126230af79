// The inputs that claims are checked on when the user gives none.
#pragma once

#include <croquis/claims/claim.hpp>
#include <string>
#include <vector>

namespace croquis::claims {

/// A head of an initialised BERT on the sample text (p = 64), and synthetic inputs (p = 16), each hard in its own way:
/// gaussian (norm 2: nearly uniform attention; norm 8: sharp), clustered with few distinct rows, heavy-tailed norms,
/// duplicated tokens. 512 tokens each; first_tokens() shortens them.
/// Randomness: children of the random key by name. Cost: milliseconds; 2 MB.
std::vector<Subject> default_subjects(const Key& draw_key);

/// The first n tokens of a problem, or all when it has fewer. Padding and position are left out.
/// Throws std::invalid_argument for n = 0. Cost: a copy of n rows of Q, K and V.
Problem<double> first_tokens(const Problem<double>& problem, arma::uword n);

/// The row of an input that has fewer tokens than the claim is about: NOT_APPLICABLE.
Finding too_few_tokens(std::string input, arma::uword least);

}  // namespace croquis::claims
