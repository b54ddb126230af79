#!/usr/bin/env bash
# Trains a small model on ListOps with eight kinds of attention: run.sh [--out FOLDER] [options of train.py]
# Goes on where it was ended. PYTHON is a Python with PyTorch (python3-torch) and NumPy; the package croquis is that of the build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3} out=$here/results
if [ "${1:-}" = --out ]; then out=${2:?--out needs a folder}; shift 2; fi
export PYTHONPATH=$root/build/release/python PYTHONDONTWRITEBYTECODE=1
"$python" -c 'import torch' 2>/dev/null || { echo "listops: $python has no PyTorch (python3-torch)" >&2; exit 2; }
"$python" -c 'import croquis' 2>/dev/null || { echo "listops: build the package first: cmake --build --preset release --target croquis_python" >&2; exit 2; }
mkdir -p "$out" && out=$(cd "$out" && pwd)
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
"$python" "$here/train.py" "$out" "$@"
"$python" "$here/summarise.py" "$out"
(cd "$out" && gnuplot "$here/plot.gp")
