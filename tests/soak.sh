#!/usr/bin/env bash
# Runs `croquis error --trials` on one input after the other and watches the process: resident memory, page faults and
# open descriptors, every ten seconds. Memory that grows or a descriptor that stays open is exit status 1.
#   tests/soak.sh MINUTES [FOLDER]     FOLDER keeps the samples, soak.csv; CROQUIS is the program, THREADS its threads,
#                                      HEADS the number of inputs of a run
set -euo pipefail
minutes=${1:?usage: tests/soak.sh MINUTES [FOLDER]}
root=$(cd "$(dirname "$0")/.." && pwd)
croquis=${CROQUIS:-$root/build/release/apps/croquis}
folder=${2:-$(mktemp -d)}
mkdir -p "$folder"
cd "$folder"

# So many heads of 256 tokens, p = 16, in float16: both bytes of a number are random within 30..3f and b0..bf, which
# makes numbers of either sign from 1/8 to 2.
heads=${HEADS:-300}
half='\060-\077\260-\277'
random_heads() {
  local header="{'descr': '<f2', 'fortran_order': False, 'shape': ($heads, 256, 16), }"
  printf '\x93NUMPY\x01\x00'"\\x$(printf %x ${#header})\\x00%s" "$header"
  head -c $((heads * 256 * 16 * 2)) /dev/urandom | LC_ALL=C tr '\000-\377' "$half$half$half$half$half$half$half$half"
}
for array in q k v; do random_heads >$array.npy; done

echo "run,seconds,resident_kb,minor_faults,major_faults,descriptors" >soak.csv
end=$((SECONDS + minutes * 60))
for ((run = 1; SECONDS < end; ++run)); do
  "$croquis" error --q q.npy --k k.npy --v v.npy --features 16,64 --trials 200 --seed $run --threads "${THREADS:-0}" \
    --out rows.csv --overwrite --quiet &
  process=$!
  trap 'kill $process 2>/dev/null' EXIT
  while [ $SECONDS -lt $end ] && sleep 10 && [ -r /proc/$process/status ]; do
    resident=$(awk '/^VmRSS/ {print $2}' /proc/$process/status 2>/dev/null) || break
    faults=$(sed 's/.*) //' /proc/$process/stat 2>/dev/null | awk '{print $8 "," $10}') || break
    descriptors=$(find /proc/$process/fd -mindepth 1 2>/dev/null | wc -l) || break
    [ -n "$resident" ] && echo "$run,$SECONDS,$resident,$faults,$descriptors" >>soak.csv
  done
  kill -TERM $process 2>/dev/null || true
  status=0
  wait $process || status=$?
  [ $status -eq 0 ] || [ $status -eq 143 ] || { echo "soak: exit status $status of run $run" >&2; exit 1; }
  echo "run $run: $(($(wc -l <rows.csv) - 1)) rows, exit status $status"
done

# Of every run without its first minute: the line through resident memory, and the descriptors.
awk -F, 'NR > 1 {
  if (!($1 in start)) start[$1] = $2
  t = ($2 - start[$1]) / 3600
  if (t < 1 / 60) next
  n[$1]++; x[$1] += t; y[$1] += $3; xx[$1] += t * t; xy[$1] += t * $3
  if (n[$1] == 1) { first[$1] = $3; first_faults[$1] = $4; first_descriptors[$1] = $6 }
  last[$1] = $3; faults[$1] = $4; major[$1] = $5; hours[$1] = t
  if ($6 > most[$1]) most[$1] = $6
}
END {
  for (run in n) {
    if (n[run] < 6) continue
    slope = (n[run] * xy[run] - x[run] * y[run]) / (n[run] * xx[run] - x[run] * x[run])
    printf "run %d, %.2f h: resident %d kB to %d kB, %.0f kB an hour; minor faults %d, major %d; descriptors %d, at most %d\n",
      run, hours[run], first[run], last[run], slope, faults[run] - first_faults[run], major[run], first_descriptors[run], most[run]
    if (last[run] > first[run] * 1.02 + 4096 || most[run] > first_descriptors[run]) { print "soak: it grows"; bad = 1 }
  }
  exit bad
}' soak.csv
