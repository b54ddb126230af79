#!/usr/bin/env bash
# Makes the plot of docs/sketches/ again: docs/images/sketches/make.sh, after a build. Two runs of `croquis sketch`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=$root/results/sketches
mkdir -p "$out"
cd "$out"
croquis=$root/build/release/apps/croquis
"$croquis" sketch --matrix v --landmarks none --features 64:512 --out text.csv --overwrite --quiet
"$croquis" sketch --landmarks none --input heavy-norms --tail 1.5 --norm 4 --matrix q --n 512 --p 16 --features 16:256 \
  --out heavy-norms.csv --overwrite --quiet
gnuplot -e "out='$here/injectivity.svg'" "$here/plot.gp"
