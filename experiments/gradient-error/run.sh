#!/usr/bin/env bash
# Errors of gradients beside errors of outputs, on heads that you give, and whether they rank methods alike:
#   run.sh [--trials 8] [--features 32,128] [--sequence 0-1] [--out FOLDER] NAME=HEADS ...
# HEADS: Q.npy,K.npy,V.npy with one head or (heads, n, p), or QKV.npz, or a folder with a model (config.json,
# model.safetensors, ids.npy and perhaps lengths.npy; all layers and heads, on the sequences --sequence). Writes
# NAME-ranks.csv, NAME-methods.csv and NAME.meta.json; with ROWS=FOLDER the rows of croquis gradient go there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
trials=8 features=32,128 sequence=0-1 out=$here/results
usage() { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --trials) trials=${2:?--trials needs a number}; shift 2 ;;
    --features) features=${2:?--features needs numbers}; shift 2 ;;
    --sequence) sequence=${2:?--sequence needs numbers}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    *=*) break ;;
    *) usage ;;
  esac
done
[ $# -gt 0 ] || usage
[ -x "$root/build/release/apps/croquis" ] || { echo "gradient-error: build the program first: cmake --build --preset release" >&2; exit 2; }
PATH=$root/build/release/apps:$PATH # by its name: the meta files say the same wherever the project is
mkdir -p "$out" && out=$(cd "$out" && pwd)

# Methods that have an adjoint, with the presets and maps that change them most; without skeinformer's ablations,
# sampled-columns, linformer-unreduced and relative biases.
methods=v-mean,skyformer,skyformer:preset=code,skyformer-softmax,nystromformer,nystromformer:inverse=pinv
methods+=,linformer,linformer:distribution=segments,skeinformer,thinformer,balancekv,kriged-coreset,performer
methods+=,performer:map=oprf,nprf

# In a folder of its own, with relative paths, as the meta files have them.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for head in "$@"; do
  name=${head%%=*} files=${head#*=}
  case $files in
    *,*,*)
      IFS=, read -r q k v <<<"$files"
      for file in "$q" "$k" "$v"; do ln -s "$(realpath "$file")" "$work/$(basename "$file")"; done
      input=(--q "$(basename "$q")" --k "$(basename "$k")" --v "$(basename "$v")") ;;
    *.npz) ln -s "$(realpath "$files")" "$work/$name.npz" && input=(--qkv "$name.npz") ;;
    *)
      ln -s "$(realpath "$files")" "$work/$name"
      input=(--model "$name/model.safetensors" --ids "$name/ids.npy" --layer all --sequence "$sequence")
      [ ! -f "$files/lengths.npy" ] || input+=(--lengths "$name/lengths.npy") ;;
  esac
  echo "$name"
  (cd "$work" && croquis gradient "${input[@]}" --methods "$methods" --features "$features" --trials "$trials" \
    --threads "${THREADS:-0}" --quiet --overwrite --out "$name.csv")
  cp "$work/$name.meta.json" "$out"
  [ -z "${ROWS:-}" ] || cp "$work/$name.csv" "$ROWS"
  python3 "$here/ranks.py" "$work/$name.csv" "$out/$name-ranks.csv" "$out/$name-methods.csv"
  cat "$out/$name-ranks.csv"
done
