#!/usr/bin/env bash
# Installs what is missing, builds, and measures seven methods on the text that comes with Croquis:
# n = 1024 tokens, p = 64, d = 16 ... 256, 20 trials. Results go to results/quickstart/, or to the folder given.
# A first build leaves out the claims of the papers: croquis verify says how to add them.
set -euo pipefail
[[ ${1:-} != -* ]] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/results/quickstart}
mkdir -p "$out"
out=$(cd "$out" && pwd)

cd "$root"
cmake/install-dependencies.sh
[ -e build/release/build.ninja ] || cmake --preset release -DCROQUIS_UNITY_BUILD=ON -DCROQUIS_WITH_CLAIMS=OFF >/dev/null
cmake --build --preset release --target man_page  # the program, and its manual page, which cmake --install needs
build/release/apps/croquis error --n 1024 --p 64 --features 16:256 --trials 20 \
  --methods v-mean,best-rank-d,skyformer,skyformer-softmax,nystromformer,linformer-unreduced,skeinformer \
  --out "$out/error.csv" --plot "$out/error.svg" --overwrite
build/release/apps/croquis plot "$out/error.csv" --out "$out/error.png"
