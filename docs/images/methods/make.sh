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
# What a panel does not draw: where the method fails, has the error 0, or one above 1e4 as in plot.gp.
remark() {
  awk -F, -v method="$2" '
    function add(text, d) { return text == "" ? "d = " d : text ", " d }
    function at(text) { return split(text, parts, ", ") == all ? "every d" : text }
    $9 == "spectral_rel" && $2 == method {
      ++all
      if ($10 == 0) failed = add(failed, $8)
      else if ($12 == 0) exact = add(exact, $8)
      else if ($12 > 1e4) { far = add(far, $8); if (!least || $12 < least) least = $12; if ($12 > largest) largest = $12 }
    }
    END {
      if (failed) text = "all draws failed at " at(failed)
      if (exact) text = text (text ? "; " : "") "exact at " at(exact)
      if (far) text = text (text ? "; " : "") sprintf("errors of %.0e to %.0e at %s", least, largest, at(far))
      printf "%s", text
    }' "$1"
}
# Where the axes end: v-mean may have an error of 1.
top() {
  awk -F, -v method="$1" '
    $9 == "spectral_rel" && $2 == method && $10 > 0 && $12 <= 1e4 && $12 > largest { largest = $12 }
    END { for (top = largest > 1.8 ? 10 : 2; top < largest; top *= 10) {} print top }' text.summary.csv heavy-norms.summary.csv
}
for page in "$root"/docs/methods/*.md; do
  method=$(basename "$page" .md)
  [ "$method" != README ] || continue
  remarks=$(remark text.summary.csv "$method")/$(remark heavy-norms.summary.csv "$method")
  gnuplot -e "method='$method'; out='$method.svg'; remarks='$remarks'; top=$(top "$method")" "$here/plot.gp"
  # gnuplot writes empty groups, the shapes of all its points, and every attribute again: two thirds of the file.
  perl -0pe 's/<title>Gnuplot<\/title>\n<desc>.*?<\/desc>\n//s; s/^.*id=.gp(Dot|Pt([0-47-9]|1[0-4])).*\n//mg; s/\t<filter.*?<\/filter>\n//sg;
    1 while s/<g [^>]*>\s*<\/g>\n//; s/ (stroke-linecap="butt"|stroke-linejoin="miter"|stroke="currentColor"|class="gridline")//g;
    s/<tspan[^>]*>(.*?)<\/tspan>/$1/g; s/ font-family="sans"//g; s/<g id="gnuplot_canvas"/<g font-family="sans"/; s/((?:translate\(|\bd=.)[MLZ\d., ]+)/$1 =~ s{(\.\d)\d}{$1}gr/ge; s/\n+/\n/g' \
    "$method.svg" > "$here/$method.svg"
done
