// The inputs that claims are checked on when the user gives none.
#pragma once

#include <vector>

#include "claims/claim.hpp"

/// A head of an initialised BERT on the sample text (p = 64), and synthetic ones (p = 16) that strain a claim each in
/// its own way: gaussian (norm 2: nearly uniform attention; norm 8: sharp), clustered with few distinct rows,
/// heavy-tailed norms, duplicated tokens. 512 tokens; fewer by first_tokens().
/// Randomness: children of the random key by name.
std::vector<Subject> default_subjects(const croquis::Key& draw_key);
