#!/usr/bin/env bash
# The instability score of Skyformer's Table 3 in several readings: run.sh [--smoke] [--out FOLDER] [options of score.py]
# --smoke: two seeds of the shortest length, into results/skyformer-table3-smoke/ unless --out follows.
# Goes on where it was ended. PYTHON is a Python with PyTorch (python3-torch) and NumPy; the package croquis is that of the build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
smoke=(--seeds 64:2)
source "$here/../with-python.sh" torch,croquis "$@"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
"$python" "$here/score.py" "$out" "${given[@]}"
"$python" "$here/summarise.py" "$out"
(cd "$out" && gnuplot "$here/plot.gp")
