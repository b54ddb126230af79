#!/usr/bin/env bash
# What approximated attention costs a whole model: experiments/model-loss/run.sh MODEL_FOLDER [--smoke] [--out FOLDER]
# MODEL_FOLDER has model.safetensors (or model.safetensors.index.json), config.json, ids.npy and, of a masked language
# model, labels.npy and lengths.npy. Results go to experiments/model-loss/results/, with the folder's name in front.
#   METHODS (default: all that the model can have but best-rank-d), SOME: those of single layers and heads, DRAWN: those
#   in the plots of loss and accuracy (default: all)
#   SEQUENCES (default 0-7) of the sweep and of single layers, FEW (0-3) of single heads, THREADS (0: all processors)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/experiments/model-loss
usage() { echo "usage: experiments/model-loss/run.sh MODEL_FOLDER [--smoke] [--out FOLDER]" >&2; exit 2; }
[ $# -ge 1 ] && [ -f "$1/config.json" ] || usage
model=$(cd "$1" && pwd); shift
name=$(basename "$model") out=$here/results
sequences=${SEQUENCES:-0-7} few=${FEW:-0-3} features=16:128 one=64 two=32,128 smoke=
while [ $# -gt 0 ]; do
  case $1 in
    --smoke) smoke=yes sequences=0 few=0,1 features=8 one=8 two=8 ;;
    --out) [ $# -ge 2 ] || usage; out=$2; shift ;;
    *) usage ;;
  esac
  shift
done
[ -x "$root/build/release/apps/croquis" ] || { echo "model-loss: build the program first: cmake --build --preset release" >&2; exit 2; }
PATH=$root/build/release/apps:$PATH # by its name: the meta files say the same wherever the project is
mkdir -p "$out" && out=$(cd "$out" && pwd)

# In a folder of its own, with relative paths: the meta files say the same wherever the model is.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$model" "$work/$name"
cd "$work"
tokens=(--ids "$name/ids.npy") labels=()
[ ! -f "$name/lengths.npy" ] || tokens+=(--lengths "$name/lengths.npy")
[ ! -f "$name/labels.npy" ] || labels=(--labels "$name/labels.npy")
weights=$name/model.safetensors
[ -f "$weights" ] || weights=$name/model.safetensors.index.json
common=(--model "$weights" "${tokens[@]}" --threads "${THREADS:-0}" --quiet --overwrite)
decoder=$(grep -qE '"model_type": *"(gpt2|llama)"' "$name/config.json" && echo yes || true)
heads=$(grep -oE '"(num_attention_heads|n_head)": *[0-9]+' "$name/config.json" | grep -oE '[0-9]+$')

# Methods of single layers and heads: the most different ones that have a form for this model.
some=nystromformer,skyformer-softmax,skeinformer,performer,bigbird
[ -z "$decoder" ] || some=prf-rpe,nprf-rpe,v-mean
[ -z "${SOME:-}" ] || some=$SOME

# All methods but the oracle of the best rank, whose singular value decompositions take longer than all others together.
every=$(croquis list methods | awk '$2 ~ /^(softmax|kernelized|normalized)/ && $1 != "best-rank-d" { print $1 }' | paste -sd,)
[ -z "$decoder" ] || every=v-mean,prf-rpe,nprf-rpe
echo "$name: all methods, all layers"
croquis model "${common[@]}" "${labels[@]}" --sequence "$sequences" --methods "${METHODS:-$every}" --features "$features" \
  --trials 1 --by-layer --out "$name-loss.csv"
echo "$name: one layer at a time"
croquis model "${common[@]}" "${labels[@]}" --sequence "$sequences" --methods "$some" --features "$one" --trials 1 \
  --layers each --out "$name-layers.csv"
echo "$name: one head at a time, and the errors of the same heads"
files=()
for head in $(seq 0 $((heads - 1))); do
  files+=("head$head.csv")
  croquis model "${common[@]}" "${labels[@]}" --sequence "$few" --methods "$some" --features "$two" --trials 1 \
    --layers each --heads "$head" --out "head$head.csv"
done
croquis error "${common[@]}" --sequence "$few" --layer all --methods "$some" --features "$two" --trials 1 \
  --row-errors --out "$name-errors.csv"
python3 "$here/correlations.py" "$name-errors.csv" "${files[@]}" >"$name-correlations.csv"

for metric in loss accuracy; do
  croquis plot "$name-loss.csv" --metric $metric ${DRAWN:+--methods "$DRAWN"} --out "$name-$metric.svg"
  croquis plot "$name-loss.csv" --metric $metric ${DRAWN:+--methods "$DRAWN"} --x flops --out "$name-$metric-flops.svg"
done
croquis plot "$name-layers.csv" --metric kl --out "$name-layers.svg"
cp "$name"-{loss,layers}{.csv,.summary.csv,.meta.json} "$name-loss.layers.csv" "$name-correlations.csv" "$name"-*.svg "$out/"
echo "$name: results are in $out"
