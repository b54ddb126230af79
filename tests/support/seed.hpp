// The seed of the statistical tests: fixed, unless the runner is given --seed N or --seed any.
#pragma once

#include <cstdint>

std::uint64_t test_seed();

// The chance that one statistical test fails although the code is right; what a test splits up shares it.
inline constexpr double kFailure = 1e-9;
