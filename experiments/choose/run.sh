#!/usr/bin/env bash
# Choices on some sequences of a model, judged on others:
#   experiments/choose/run.sh MODEL_FOLDER ONE OTHER [--out FOLDER]     ONE and OTHER: sequences, as 0-15 and 16-31
# MODEL_FOLDER has model.safetensors, config.json, ids.npy and, where sequences are padded, lengths.npy.
#   LAYERS (default all), EPS ("0.1 0.2"), DELTA (0.1), FEATURES (16:128), METHODS (all), THREADS (0: all processors)
# Writes NAME-SEQUENCES-eps-EPS.csv and what choose writes beside it, and NAME-coverage.txt. An interrupted run resumes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
usage() { echo "usage: experiments/choose/run.sh MODEL_FOLDER ONE OTHER [--out FOLDER]" >&2; exit 2; }
[ $# -ge 3 ] && [ -f "$1/config.json" ] || usage
model=$(cd "$1" && pwd) halves=("$2" "$3") out=$root/results/choose; shift 3
while [ $# -gt 0 ]; do
  case $1 in
    --out) [ $# -ge 2 ] || usage; out=$2; shift ;;
    *) usage ;;
  esac
  shift
done
croquis=$root/build/release/apps/croquis
[ -x "$croquis" ] || { echo "choose: build the program first: cmake --build --preset release" >&2; exit 2; }
lengths=()
[ ! -f "$model/lengths.npy" ] || lengths=(--lengths "$model/lengths.npy")
mkdir -p "$out"
name=$out/$(basename "$model")
for eps in ${EPS:-0.1 0.2}; do
  for half in "${halves[@]}"; do
    "$croquis" choose --model "$model/model.safetensors" --ids "$model/ids.npy" "${lengths[@]}" --sequence "$half" \
      --layer "${LAYERS:-all}" --eps "$eps" --delta "${DELTA:-0.1}" --features "${FEATURES:-16:128}" \
      --methods "${METHODS:-all}" --threads "${THREADS:-0}" --resume --out "$name-$half-eps-$eps.csv" >&2
  done
  for order in "0 1" "1 0"; do
    read -r one other <<<"$order"
    echo "chosen on ${halves[one]}, judged on ${halves[other]}"
    "$root/experiments/choose/coverage.py" "$name-${halves[one]}-eps-$eps.csv" "$name-${halves[other]}-eps-$eps.csv"
    echo
  done
done | tee "$name-coverage.txt"
