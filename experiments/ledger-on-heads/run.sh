#!/usr/bin/env bash
# The readings of the ledger that are about trained heads, on every head of a model:
#   experiments/ledger-on-heads/run.sh MODEL_FOLDER [--out FOLDER]
# MODEL_FOLDER has model.safetensors, config.json, ids.npy and, where sequences are padded, lengths.npy.
#   SEQUENCES (default "0 1"), LAYERS and HEADS (default: all), CLAIMS
# Writes NAME.csv, a row a reading and head (and one a sequence for lin.spectrum/layers, which is about all heads), and
# NAME.txt, the verdicts counted; NAME is that of the folder.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
usage() { echo "usage: experiments/ledger-on-heads/run.sh MODEL_FOLDER [--out FOLDER]" >&2; exit 2; }
[ $# -ge 1 ] && [ -f "$1/config.json" ] || usage
model=$(cd "$1" && pwd) out=$root/experiments/ledger-on-heads/results; shift
while [ $# -gt 0 ]; do
  case $1 in
    --out) [ $# -ge 2 ] || usage; out=$2; shift ;;
    *) usage ;;
  esac
  shift
done
croquis=$root/build/release/apps/croquis
[ -x "$croquis" ] || { echo "ledger-on-heads: build the program first: cmake --build --preset release" >&2; exit 2; }
number() { grep -oE "\"$1\": *[0-9]+" "$model/config.json" | grep -oE '[0-9]+$'; }
layers=${LAYERS:-$(seq 0 $(($(number num_hidden_layers) - 1)))} heads=${HEADS:-$(seq 0 $(($(number num_attention_heads) - 1)))}
claims=${CLAIMS:-lin.spectrum/charitable,lin.eckart-young/charitable,lin.thm1/corrected,nys.six-iterations/norm,nys.six-iterations/output,nys.landmarks,sky.conditioning/charitable,sky.core/inherits,sky.dstat-growth/charitable,sky.fig1/charitable,ske.informer-order/heads,ske.vmean/threshold,ske.fig1/strict,ske.fig1/charitable}
lengths=()
[ ! -f "$model/lengths.npy" ] || lengths=(--lengths "$model/lengths.npy")
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=$(basename "$model")
decide() {  # SEQUENCE LAYERS HEADS CLAIMS
  "$croquis" verify --model "$model/model.safetensors" --ids "$model/ids.npy" "${lengths[@]}" --sequence "$1" \
    --layer "$2" --head "$3" --claims "$4" --threads 1 --quick --quiet --overwrite --out "$work/one.csv" 2>/dev/null
  awk -v at="$1,$2,$3" -v first="$([ -f "$work/all.csv" ] || echo yes)" '
    NR == 1 { if (first) print "sequence,layer,head," $0; next }
    /,all,NA,NA,NA,/ { print at "," $0 }' "$work/one.csv" >>"$work/all.csv"
  echo "sequence $1, layer $2, head $3" >&2
}
for sequence in ${SEQUENCES:-0 1}; do
  for layer in $layers; do
    for head in $heads; do
      decide "$sequence" "$layer" "$head" "$claims"
    done
  done
  [ -n "${CLAIMS:-}" ] || decide "$sequence" all all lin.spectrum/layers
done
cp "$work/all.csv" "$out/$name.csv"
# The verdicts of whole readings: of how many heads each is. Its columns are before the first with a comma in quotes.
awk -F, 'NR > 1 && /,all,NA,NA,NA,/ { ++count["| `" $4 "` | " $5 " |"] }
  END { for (key in count) print key, count[key], "|" }' "$out/$name.csv" | sort >"$work/rows"
{ echo "| reading | verdict | heads |"; echo "| --- | --- | --- |"; cat "$work/rows"; } >"$out/$name.txt"
cat "$out/$name.txt"
