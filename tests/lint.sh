#!/usr/bin/env bash
# Runs clang-tidy over the sources of the library, the program and the tests (.clang-tidy has the checks, and why some
# are off) and cppcheck over all of them. Anything that they find is exit status 1. It takes about 20 s a source and core.
#   tests/lint.sh [PATTERN...]     clang-tidy only where a path contains one of them; JOBS run at once, else one a core
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in clang-tidy-14 cppcheck; do
  command -v $tool >/dev/null || { echo "lint: $tool is missing; apt-get install clang-tidy-14 cppcheck" >&2; exit 2; }
done
jobs=${JOBS:-$(nproc)}

# The release build's commands less the precompiled headers, which GCC alone reads.
cmake --preset release -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
patterns=$(printf '%s\n' "${@:-.}")
sources=$(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\".*|\1|p" build/lint/compile_commands.json |
  grep -E '^(lib|apps|tests)/' | grep -e "$patterns" | sort -u)

status=0
# The analyzer follows calls into Armadillo's headers; what it says of lines there is not of this code.
tidy() {
  local found
  found=$(clang-tidy-14 -p build/lint --quiet --extra-arg=-Wno-unknown-warning-option "$1" 2>&1) && return
  local theirs='^/usr/include/armadillo_bits/.* error: '
  grep -q "$theirs" <<<"$found" && ! grep -E ' (error|warning): ' <<<"$found" | grep -qv "$theirs" && return
  echo "$found"
  return 1
}
export -f tidy
xargs -P "$jobs" -I{} bash -c 'tidy {}' <<<"$sources" || status=1
cppcheck --quiet --std=c++20 --language=c++ --enable=warning,performance,portability --inline-suppr \
  --suppressions-list=tests/support/cppcheck.supp --error-exitcode=1 -I lib lib apps tests docs/examples || status=1
exit $status
