#!/usr/bin/env bash
# Measures kriged-coreset and its variants against all other methods at equal flops, on heads that you give:
#   run.sh [--trials 4] [--features 16,32,64,128] [--grid 2,4,...,256] [--out FOLDER] NAME=HEADS ...
# --grid: the d of the other methods, finer than --features: each is taken at the smallest d that costs at least as much.
# HEADS: Q.npy,K.npy,V.npy with one head or (heads, n, p), or QKV.npz, or a BERT's model.safetensors (all layers and
# heads, on the sample text; LENGTH=512 tokens), or the options of `croquis error` for an input, as
# '--model model.safetensors --ids ids.npy --sequence 1,2'. Writes NAME-ratios.csv for the Frobenius norm,
# NAME-ratios-spectral.csv, NAME-frontier.csv and NAME.svg, errors against flops, and summary.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
trials=4 features=16,32,64,128 out=$here/results
grid=2,4,8,12,16,20,24,28,32,36,40,48,56,64,72,80,96,112,128,144,160,192,224,256
while [ $# -gt 0 ]; do
  case $1 in
    --trials) trials=${2:?--trials needs a number}; shift 2 ;;
    --features) features=${2:?--features needs numbers}; shift 2 ;;
    --grid) grid=${2:?--grid needs numbers}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    *=*) break ;;
    *) sed -n '2,9s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
[ $# -gt 0 ] || { sed -n '2,9s/^# //p' "$0" >&2; exit 2; }
croquis=${CROQUIS:-$root/build/release/apps/croquis} # set CROQUIS to use another build
if [ ! -x "$croquis" ]; then
  cmake --preset release -S "$root" >/dev/null
  cmake --build "$root/build/release" --target croquis_program >/dev/null
fi
mkdir -p "$out"
rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT

own=(kriged-coreset)
for variant in mode=coreset mode=near mode=window window=no tree=far kriging=no,mode=coreset landmarks=0.25,mode=coreset; do
  own+=("kriged-coreset:$variant")
done
# All that approximate softmax attention without all scores, but for ablations of skeinformer and v-mean, which is first.
others=(skyformer-softmax skyformer-softmax:landmarks=stratified skyformer-softmax:landmarks=rpcholesky
  skyformer-softmax:preset=code nystromformer nystromformer:inverse=pinv skeinformer linformer
  linformer:distribution=segments performer informer bigbird longformer linear reformer streaming vertical-slash mra-2
  wildcat thinformer balancekv vattention scatterbrain hyperattention kdeformer clustered improved-clustered)

for head in "$@"; do
  name=${head%%=*} files=${head#*=}
  case $files in
    --*) read -ra input <<<"$files" ;;
    *,*,*) IFS=, read -r q k v <<<"$files"; input=(--q "$q" --k "$k" --v "$v") ;;
    *.npz) input=(--qkv "$files") ;;
    *) input=(--model "$files" --layer all --n "${LENGTH:-512}") ;;
  esac
  mkdir -p "$rows/$name/own" "$rows/$name/others"
  # A file a method with its options, whose name says them.
  run() { "$croquis" error "${input[@]}" --methods "$2" --features "$3" --trials "$trials" --out "$rows/$name/$1/$2.csv" --quiet; }
  echo "$name"
  # v-mean takes every d, and its rows say whether the others do.
  run others v-mean "$grid"
  tokens=$(python3 -c 'import csv, sys; print(min(int(row["n"]) for row in csv.DictReader(open(sys.argv[1], newline=""))))' \
    "$rows/$name/others/v-mean.csv")
  largest=$(tr ',:' '\n' <<<"$grid" | sort -n | tail -n 1)
  if [ "$largest" -gt "$tokens" ]; then
    echo "run.sh: $name has $tokens tokens, and --grid goes to $largest; give a --grid that ends at $tokens or before" >&2
    exit 2
  fi
  for method in "${own[@]}"; do run own "$method" "$features"; done
  for method in "${others[@]}"; do run others "$method" "$grid"; done
  ratios() { python3 "$here/ratios.py" "$rows/$name/own" "$rows/$name/others" --error "$1" --out "$out/$2.csv"; }
  { printf '%s, Frobenius error\n' "$name"; ratios frobenius_rel "$name-ratios"
    printf '%s, spectral error\n' "$name"; ratios spectral_rel "$name-ratios-spectral"; } >>"$rows/summary.txt"
  python3 "$here/frontier.py" "$rows/$name/own" "$rows/$name/others" >"$out/$name-frontier.csv"
  gnuplot -e "csv='$out/$name-frontier.csv'; name='$name'; out='$out/$name.svg'" "$here/plot.gp"
done
cp "$rows/summary.txt" "$out/summary.txt"
cat "$out/summary.txt"
