#!/usr/bin/env bash
# Every method on every head of some models and on synthetic families, and one page to look at:
#   run.sh [--shard i/N] [--trials 4] [--features 16:256] [--out FOLDER] SOURCE ...
#   run.sh --merge N [--out FOLDER] SOURCE ...     after N shards, which may have run on as many machines
# SOURCE is one of
#   NAME=MODEL_FOLDER                    config.json, model.safetensors, ids.npy and perhaps lengths.npy; --sequence of them
#   NAME=MODEL_FOLDER,TEXT,VOCABULARY    1024 tokens of a text, in windows one after the other where the model has fewer positions
#   NAME=MODEL_FOLDER,TEXT,VOCABULARY,W  W windows one after the other, for long heads: float, head 0 of each layer, no spectrum
#   NAME=Q.npy,K.npy,V.npy               heads as arrays
#   synthetic                            gaussian, sphere, clustered, heavy-norms, low-rank and duplicates, n = 1024
# Writes rows (NAME.csv) and singular values of attention (NAME-spectrum.summary.csv) to FOLDER/rows, and to FOLDER
# atlas.html, errors.csv (every head, method and budget) and atlas.txt (what decides).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
shard=1/1 merge= trials=4 features=16:256 sequence=0-1 out=$here/results
usage() { sed -n '2,12s/^# //p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --shard) shard=${2:?--shard needs i/N}; shift 2 ;;
    --merge) merge=${2:?--merge needs a number}; shift 2 ;;
    --trials) trials=${2:?--trials needs a number}; shift 2 ;;
    --features) features=${2:?--features needs numbers}; shift 2 ;;
    --sequence) sequence=${2:?--sequence needs numbers}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    --*) usage ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || usage
[ -x "$root/build/release/apps/croquis" ] || { echo "atlas: build the program first: cmake --build --preset release" >&2; exit 2; }
PATH=$root/build/release/apps:$PATH # by its name: the meta files say the same wherever the project is
mkdir -p "$out/rows" && out=$(cd "$out" && pwd)
cd "$out/rows"
shards=${shard#*/}

# Methods that are not quadratic in n, for long heads.
long=v-mean,skyformer-softmax,nystromformer,linformer,informer,skeinformer,performer,reformer,bigbird,longformer
long+=,streaming,mra-2,kriged-coreset,kriged-coreset:mode=coreset,wildcat,hyperattention,improved-clustered

# part NAME error|spectrum OPTION ...: a shard's part, or all parts put together.
part() {
  local name=$1 command=$2 file=$1
  [ "$command" = error ] || file=$1-$command
  shift 2
  if [ -n "$merge" ]; then
    [ "$merge" = 1 ] || croquis merge "$file.csv" "$file"-part*.csv --overwrite
    return
  fi
  [ "$shards" = 1 ] || file=$file-part${shard%/*}
  croquis "$command" "$@" --shard "$shard" --threads "${THREADS:-0}" --quiet --resume --out "$file.csv"
}

names=()
# both NAME OPTION ...: errors, and the spectrum of attention, which takes minutes for a long head and is left out there.
both() {
  local name=$1
  shift
  echo "$name"
  names+=("$name")
  part "$name" error "$@" --methods "${METHODS:-all}" --features "$features" --trials "$trials" --bounds
  [ -n "${METHODS:-}" ] || part "$name" spectrum "$@" --matrices b
}

for source in "$@"; do
  name=${source%%=*} given=${source#*=}
  case $source in
    synthetic)
      for family in gaussian sphere clustered heavy-norms low-rank duplicates; do
        both "$family" --input "$family" --n 1024 --p 64
      done
      continue ;;
    *=*) ;;
    *) usage ;;
  esac
  IFS=, read -ra given <<<"$given"
  for i in "${!given[@]}"; do
    [ ! -e "$OLDPWD/${given[$i]}" ] || given[i]=$(realpath "$OLDPWD/${given[$i]}")
  done
  case ${#given[@]}:${given[0]} in
    1:*)
      ln -sfn "${given[0]}" "$name"
      tokens=(--model "$name/model.safetensors" --ids "$name/ids.npy" --sequence "$sequence" --layer all)
      [ ! -f "$name/lengths.npy" ] || tokens+=(--lengths "$name/lengths.npy")
      both "$name" "${tokens[@]}" ;;
    3:*.npy)
      for i in 0 1 2; do ln -sfn "${given[$i]}" "$name-$i.npy"; done
      both "$name" --q "$name-0.npy" --k "$name-1.npy" --v "$name-2.npy" ;;
    3:*|4:*)
      ln -sfn "${given[0]}" "$name"
      ln -sfn "${given[1]}" "$name.txt"
      ln -sfn "${given[2]}" "$name-vocabulary.txt"
      tokens=(--model "$name/model.safetensors" --text "$name.txt" --vocab "$name-vocabulary.txt" --layer all)
      if [ ${#given[@]} -eq 3 ]; then
        both "$name" "${tokens[@]}"
      else
        METHODS=$long both "$name" "${tokens[@]}" --join-windows "${given[3]}" --head 0 --precision float
      fi ;;
    *) usage ;;
  esac
done

if [ "$shards" = 1 ]; then
  croquis report "${names[@]/%/.csv}" --title "Atlas of attention approximations" --out "$out/atlas.html"
  python3 -B "$here/atlas.py" "$out/errors.csv" "${names[@]}" | tee "$out/atlas.txt"
fi
