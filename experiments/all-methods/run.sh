#!/usr/bin/env bash
# All methods on the heads of a model, at equal flops:
#   run.sh [--sequence 0-1] [--layers all] [--trials 2] [--features 8:256] [--out FOLDER] NAME=MODEL_FOLDER ...
# MODEL_FOLDER has config.json, model.safetensors, ids.npy and perhaps lengths.npy. Attention is causal where the model's is,
# and the methods are then those with a causal form. Writes NAME-errors.csv (the error of every method at three
# budgets, and its rank) and NAME.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
sequence=0-1 layers=all trials=2 features=8:256 out=$here/results
usage() { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --sequence) sequence=${2:?--sequence needs numbers}; shift 2 ;;
    --layers) layers=${2:?--layers needs numbers}; shift 2 ;;
    --trials) trials=${2:?--trials needs a number}; shift 2 ;;
    --features) features=${2:?--features needs numbers}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    *=*) break ;;
    *) usage ;;
  esac
done
[ $# -gt 0 ] || usage
[ -x "$root/build/release/apps/croquis" ] || { echo "all-methods: build the program first: cmake --build --preset release" >&2; exit 2; }
PATH=$root/build/release/apps:$PATH # by its name: the meta files say the same wherever the project is
mkdir -p "$out" && out=$(cd "$out" && pwd)

# In a folder of its own, with relative paths, as the meta files have them.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for model in "$@"; do
  name=${model%%=*} folder=${model#*=}
  ln -s "$(realpath "$folder")" "$name"
  tokens=(--ids "$name/ids.npy" --sequence "$sequence" --layer "$layers")
  [ ! -f "$name/lengths.npy" ] || tokens+=(--lengths "$name/lengths.npy")
  echo "$name"
  croquis error --model "$name/model.safetensors" "${tokens[@]}" --methods "${METHODS:-all}" --features "$features" --trials "$trials" \
    --threads "${THREADS:-0}" --quiet --overwrite --out "$name.csv"
  cp "$name.meta.json" "$out"
  python3 "$here/budgets.py" "$name.csv" "$out/$name-errors.csv" | tee "$out/$name.txt"
done
