#!/usr/bin/env bash
# Builds croquis_bench and times it in turns with PyTorch, NumPy and scikit-learn:
#   run.sh [FOLDER] [compare.py's options]     (default results/peers)
# Once with the allocator tuned for the peers (memory kept between calls), once as Debian installs them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/results/peers}
[ $# -gt 0 ] && shift
mkdir -p "$out"
/usr/bin/python3 -c 'import torch, sklearn' 2>/dev/null || {
  echo "peers: needs Debian's python3-torch and python3-sklearn: apt-get install python3-torch python3-sklearn" >&2
  exit 2
}
[ -e /usr/include/benchmark/benchmark.h ] || { echo "peers: needs Debian's libbenchmark-dev" >&2; exit 2; }
cmake --preset release -S "$root" -DCROQUIS_BUILD_BENCHMARKS=ON >/dev/null
cmake --build "$root/build/release" --target croquis_bench
compare() {
  /usr/bin/python3 "$here/compare.py" "$root/build/release/apps/bench/croquis_bench" "$out/$1.csv" "${@:2}"
  /usr/bin/python3 "$here/summarise.py" "$out/$1.csv" "$out/$1.summary.csv"
  gnuplot -e "table='$out/$1.summary.csv'; out='$out/$1.svg'" "$here/plot.gp"
}
most=4000000000
MALLOC_TRIM_THRESHOLD_=$most MALLOC_MMAP_THRESHOLD_=$most MALLOC_TOP_PAD_=100000000 compare tuned "$@"
compare installed "$@"
