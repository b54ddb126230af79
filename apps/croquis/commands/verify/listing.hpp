// The list of claims, for croquis list.
#pragma once

/// One line a claim and reading: kind, source and statement. Throws std::invalid_argument in a build without claims.
void print_claims();
