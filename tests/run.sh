#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests but those that take long:
#   ctest --test-dir build/release -L slow   compiles the library within another project, minutes
#   tests/soak.sh 120                        runs croquis error for two hours and watches its memory
#   tests/mutants.sh                         one mistake after the other: do the tests notice? An hour or two
#   tests/coverage.sh                        which lines and branches of the library they run
#   tests/lint.sh                            clang-tidy and cppcheck
set -euo pipefail
cd "$(dirname "$0")/.."
cmake/install-dependencies.sh tests mpi python
cmake --preset release -DCROQUIS_UNITY_BUILD=ON -DCROQUIS_WITH_CLAIMS=ON -DCROQUIS_BUILD_TESTS=ON >/dev/null
cmake --build --preset release
ctest --preset release --parallel "$(nproc)" "$@"
