#!/usr/bin/env bash
# Spread of gradients over draws of random features against the norm of queries and keys:
#   run.sh [--out FOLDER] [NAME=Q.npy,K.npy,V.npy ...]     on random points, and on heads that you give
# PYTHON is a Python with NumPy; the package croquis is that of the build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../with-python.sh" croquis "$@"
"$python" "$here/variance.py" "$out" "${given[@]}"
"$python" "$here/summarise.py" "$out"
(cd "$out" && gnuplot "$here/plot.gp")
