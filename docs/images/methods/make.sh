#!/usr/bin/env bash
# Makes the plots of docs/methods/ again: docs/images/methods/make.sh, after a build.
# All methods on the sample text and on heavy norms, those of a relative bias in a run with one; then an SVG a method.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=$root/results/methods
mkdir -p "$out"
cd "$out"
for input in text heavy-norms; do
  error=("$root/build/release/apps/croquis" error --input $input --n 1024 --p 64 --methods all --features 16:256 --trials 10
    --overwrite --quiet)
  "${error[@]}" --out $input.csv
  "${error[@]}" --out biased.csv --bias alibi:0.05
  sed -i '/,n\?prf-rpe,/d' $input.summary.csv
  sed 1d biased.summary.csv >> $input.summary.csv
done
for page in "$root"/docs/methods/*.md; do
  method=$(basename "$page" .md)
  [ "$method" != README ] || continue
  gnuplot -e "method='$method'; out='$method.svg'" "$here/plot.gp"
  # gnuplot writes empty groups, the shapes of all its points, and every attribute again: two thirds of the file.
  perl -0pe 's/<title>Gnuplot<\/title>\n<desc>.*?<\/desc>\n//s; s/^.*id=.gp(Dot|Pt([0-47-9]|1[0-4])).*\n//mg; s/\t<filter.*?<\/filter>\n//sg;
    1 while s/<g [^>]*>\s*<\/g>\n//; s/ (stroke-linecap="butt"|stroke-linejoin="miter"|stroke="currentColor"|class="gridline")//g;
    s/<tspan[^>]*>(.*?)<\/tspan>/$1/g; s/ font-family="sans"//g; s/<g id="gnuplot_canvas"/<g font-family="sans"/; s/((?:translate\(|\bd=.)[MLZ\d., ]+)/$1 =~ s{(\.\d)\d}{$1}gr/ge; s/\n+/\n/g' \
    "$method.svg" > "$here/$method.svg"
done
