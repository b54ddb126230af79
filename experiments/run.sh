#!/usr/bin/env bash
# Makes an experiment again: experiments/run.sh NAME [--smoke] [--out FOLDER]
# NAME is a folder here with config.ini (its section is the croquis command), plot.gp, and, where they are wanted:
#   sizes  values of --n, one run each      smoke  options of the small run that --smoke makes in their place
#   other .ini files, one more run of the command each
# or one with a run.sh of its own, which is then called.
# Results go to experiments/NAME/results/, those of --smoke to results/NAME-smoke/, or to FOLDER.
# CROQUIS is a program to run in the place of that of the build, which is then not built.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() { echo "usage: experiments/run.sh NAME [--smoke] [--out FOLDER]; NAME is one of:" $(cd "$root/experiments" && dirname */config.ini */run.sh | sort -u) >&2; exit 2; }
[ $# -ge 1 ] || usage
name=$1; shift
folder=$root/experiments/$name
[ -f "$folder/config.ini" ] || [ ! -x "$folder/run.sh" ] || exec "$folder/run.sh" "$@"
[ -f "$folder/config.ini" ] || usage
out=$folder/results smoke=
while [ $# -gt 0 ]; do
  case $1 in
    --smoke) smoke=yes; [ "$out" != "$folder/results" ] || out=$root/results/$name-smoke ;;
    --out) [ $# -ge 2 ] || usage; out=$2; shift ;;
    *) usage ;;
  esac
  shift
done
mkdir -p "$out"
out=$(cd "$out" && pwd)

croquis=${CROQUIS:-$root/build/release/apps/croquis}
if [ -z "${CROQUIS:-}" ]; then
  cd "$root"
  cmake/install-dependencies.sh
  cmake --preset release -DCROQUIS_UNITY_BUILD=ON >/dev/null
  cmake --build --preset release --target croquis_program >/dev/null
fi
command=$(sed -n 's/^\[\(.*\)\]$/\1/p' "$folder/config.ini" | head -1)
options=(); sizes=
[ -z "$smoke" ] || [ ! -f "$folder/smoke" ] || read -ra options < "$folder/smoke"
[ -n "$smoke" ] || [ ! -f "$folder/sizes" ] || sizes=$(cat "$folder/sizes")

# From the results folder and with relative paths: the meta files say the same wherever the project is.
cd "$out"
near() { realpath --relative-to=. "$1"; }
runs=()
run() {  # NAME CONFIGURATION [options]
  runs+=("$1")
  "$(near "$croquis")" "$command" --config "$(near "$folder/$2")" --out "$1.csv" --overwrite --quiet \
    "${@:3}" "${options[@]}"
}
if [ -n "$sizes" ]; then
  for n in $sizes; do
    echo "$name: n = $n"
    run "n$n" config.ini --n "$n"
  done
else
  run "$command" config.ini
fi
for other in "$folder"/*.ini; do
  [ "$other" = "$folder/config.ini" ] || run "$(basename "$other" .ini)" "$(basename "$other")"
done
gnuplot -e "runs='${runs[*]}'; csv='${runs[0]}.summary.csv'; out='figure.svg'" "$folder/plot.gp"
echo "$name: results are in $out"
