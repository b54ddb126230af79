#!/usr/bin/env bash
# Builds and runs the consumers.  run.sh installed BUILD   with the library installed from BUILD
#                                 run.sh fetched SOURCE    with FetchContent, which compiles the whole library: minutes
#                                 run.sh configured SOURCE the same, as far as the build files
set -euo pipefail
how=$1 what=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $how in
  installed)
    cmake --install "$what" --prefix "$work/prefix" >/dev/null
    "$work/prefix/bin/croquis" --version | head -1
    # The library calls the OpenMP runtime of the compiler that made it.
    compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$what/CMakeCache.txt")
    cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CXX_COMPILER="$compiler" ;;
  fetched | configured)
    cmake -S "$here" -B "$work/build" -DCROQUIS_SOURCE="$what" -DCMAKE_BUILD_TYPE=Release -G Ninja ;;
esac >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
if [ "$how" = configured ]; then
  ninja -C "$work/build" -t query consumer | grep libcroquis.a
  ninja -C "$work/build" -t query new_claim | grep libcroquis_claims.a
  if ninja -C "$work/build" -t targets all | grep -E 'croquis_(program|tests)'; then exit 1; fi # not for its users
  exit
fi
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/consumer"
"$work/build/new_claim"
