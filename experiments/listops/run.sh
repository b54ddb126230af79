#!/usr/bin/env bash
# Trains a small model on ListOps with eight kinds of attention: run.sh [--smoke] [--out FOLDER] [options of train.py]
# --smoke: twenty steps, into results/listops-smoke/ unless --out follows.
# Goes on where it was ended. PYTHON is a Python with PyTorch (python3-torch) and NumPy; the package croquis is that of the build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
smoke=(--steps 20 --every 10 --seeds 1 --rates 0.001)
source "$here/../with-python.sh" torch,croquis "$@"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
"$python" "$here/train.py" "$out" "${given[@]}"
"$python" "$here/summarise.py" "$out"
(cd "$out" && gnuplot "$here/plot.gp")
