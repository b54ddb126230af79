#!/usr/bin/env bash
# Measures how often the intervals of `croquis error --rows` have the error, and prints the tables:
#   run.sh [--part choosing|reporting] [--samples 200] [--out FOLDER] [NAME=Q.npy,K.npy,V.npy ...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
part=reporting samples=200 out=$here/results
while [ $# -gt 0 ]; do
  case $1 in
    --part) part=${2:?--part needs choosing or reporting}; shift 2 ;;
    --samples) samples=${2:?--samples needs a number}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    *=*,*,*) break ;;
    *) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
mkdir -p "$out"
cmake --preset release -S "$root" >/dev/null
cmake --build "$root/build/release" --target rows_coverage >/dev/null
"$root/build/release/experiments/rows-coverage/rows_coverage" "$part" "$samples" "$@" >"$out/$part.csv"
python3 "$here/summarise.py" "$out/$part.csv" | tee "$out/$part.txt"
