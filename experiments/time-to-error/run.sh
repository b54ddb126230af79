#!/usr/bin/env bash
# How long a method takes to come within 5 % and 1 % of exact attention, on long heads of a BERT and a text of yours:
#   run.sh [--windows 32] [--layers 0-3] [--heads 1] [--trials 3] [--features 32:1024] [--out FOLDER] MODEL TEXT VOCABULARY
# MODEL: the folder of a BERT (config.json, model.safetensors). A head has --windows windows of the model's length,
# one after the other. Single precision, one thread. Writes errors.csv (a row a method, d and head), times.csv
# (the cheapest d of every method that is within the errors), exact.csv and errors.svg.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
windows=32 layers=0-3 heads=1 trials=3 features=32:1024 out=$here/results
usage() { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --windows) windows=${2:?--windows needs a number}; shift 2 ;;
    --layers) layers=${2:?--layers needs numbers}; shift 2 ;;
    --heads) heads=${2:?--heads needs numbers}; shift 2 ;;
    --trials) trials=${2:?--trials needs a number}; shift 2 ;;
    --features) features=${2:?--features needs numbers}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    --*) usage ;;
    *) break ;;
  esac
done
[ $# -eq 3 ] || usage
[ -x "$root/build/release/apps/croquis" ] || { echo "time-to-error: build the program first: cmake --build --preset release" >&2; exit 2; }
PATH=$root/build/release/apps:$PATH # by its name: the meta files say the same wherever the project is
mkdir -p "$out" && out=$(cd "$out" && pwd)
[ -z "${OPENBLAS_CORETYPE:-}" ] || echo "time-to-error: OPENBLAS_CORETYPE is set, and BLAS may be slower than it can be" >&2

methods=v-mean,kriged-coreset,kriged-coreset:mode=coreset,skyformer-softmax,skyformer-softmax:preset=code
methods+=,skyformer-softmax:landmarks=stratified,nystromformer,nystromformer:inverse=pinv,linformer:distribution=segments
methods+=,skeinformer,performer:map=oprf,informer,longformer,bigbird,reformer${METHODS:+,$METHODS}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$(realpath "$1")" "$work/model"
ln -s "$(realpath "$2")" "$work/text.txt"
ln -s "$(realpath "$3")" "$work/vocabulary.txt"
cd "$work"
croquis error --model model/model.safetensors --text text.txt --vocab vocabulary.txt --join-windows "$windows" \
  --layer "$layers" --head "$heads" --methods "$methods" --features "$features" --trials "$trials" --precision float \
  --threads 1 --quiet --out rows.csv
# Exact attention of the same size, each call timed by itself; its time does not depend on the numbers. On one thread as
# the methods are: a sweep on more threads computes as many draws at a time, each on one of them.
n=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "n") c = i } NR == 2 { print $c }' rows.csv)
p=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "p") c = i } NR == 2 { print $c }' rows.csv)
croquis cost --methods exact --n "$n" --p "$p" --precision float --threads 1 --repeats 15 --quiet --out exact.csv
python3 "$here/times.py" rows.csv exact.csv "$out"
cp rows.meta.json "$out/errors.meta.json"
croquis plot rows.csv --metric frobenius_rel --x seconds --statistic median --out "$out/errors.svg" \
  --methods v-mean,kriged-coreset,skyformer-softmax,nystromformer,linformer,skeinformer,performer,longformer
