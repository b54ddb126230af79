#!/usr/bin/env bash
# Lines and branches of lib/ that the tests run, by gcov and gcovr (a Debian package): builds the library with counters,
# runs the tests and writes coverage.txt, a line a file, and coverage.html, every line.
#   tests/coverage.sh [FOLDER]     where the two go; build/coverage when it is not given
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/coverage}
cmake --preset coverage >/dev/null
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete
ctest --preset coverage
# Branches that only an exception of the standard library takes, as of an allocation, are not counted.
gcovr --root . --filter 'lib/' --exclude-throw-branches --exclude-unreachable-branches build/coverage \
  --txt "$folder/coverage.txt" --html-details "$folder/coverage.html" --json "$folder/coverage.json" --print-summary
