#!/usr/bin/env bash
# Spread of gradients over draws of random features against the norm of queries and keys:
#   run.sh [--out FOLDER] [NAME=Q.npy,K.npy,V.npy ...]     on random points, and on heads that you give
# PYTHON is a Python with NumPy; the package croquis is that of the build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3} out=$here/results
if [ "${1:-}" = --out ]; then out=${2:?--out needs a folder}; shift 2; fi
export PYTHONPATH=$root/build/release/python PYTHONDONTWRITEBYTECODE=1
"$python" -c 'import croquis' 2>/dev/null || { echo "gradient-variance: build the package first: cmake --build --preset release --target croquis_python" >&2; exit 2; }
mkdir -p "$out" && out=$(cd "$out" && pwd)
"$python" "$here/variance.py" "$out" "$@"
"$python" "$here/summarise.py" "$out"
(cd "$out" && gnuplot "$here/plot.gp")
