#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake/install-dependencies.sh
cmake --preset release >/dev/null
cmake --build --preset release
ctest --preset release "$@"
