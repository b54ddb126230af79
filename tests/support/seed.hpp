// The seed of the statistical tests: fixed, unless the runner is given --seed N or --seed any.
#pragma once

#include <cstdint>

std::uint64_t test_seed();
