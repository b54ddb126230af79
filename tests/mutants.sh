#!/usr/bin/env bash
# Makes one mistake after the other in a copy of the library and runs the tests that ought to notice it:
#   tests/mutants.sh [PATTERN]     PATTERN chooses lines of tests/mutants.tsv, such as sketch/ or srht; JOBS, LIMIT below
# A mutant that survives and that the table does not explain is exit status 1. It takes what build/release has
# (cmake --build --preset release --target croquis_tests); one or two files are compiled a mutant, and nothing is changed.
set -euo pipefail
pattern=${1:-.}
limit=${LIMIT:-600} # seconds of one run of tests; a mutant may hang
root=$(cd "$(dirname "$0")/.." && pwd)
table=$root/tests/mutants.tsv
build=$root/build/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY=passive
cd "$build"
link=$(ninja -t commands croquis_tests | tail -1)

# run_tests PROGRAM TESTS: TESTS are source files, with commas between
run_tests() { timeout "$limit" "$1" --source-file="*/tests/${2//,/,*/tests/}" --abort-after=1 &>"$work/log"; }

# compile SOURCE OBJECT, with the mutated files before the others
compile() {
  local command
  command=$(sed -n "s|.*\"command\": \"\(.*\) -o [^ ]* -c $root/lib/croquis/$1\".*|\1|p" compile_commands.json)
  local source=$work/croquis/$1
  [ -f "$source" ] || source=$root/lib/croquis/$1
  eval "${command/ -I/ -I$work -I} -w -o $2 -c $source"
}

mutants=$(grep -v '^#' "$table" | grep -e "$pattern") || { echo "mutants: no line has '$pattern'" >&2; exit 2; }
for tests in $(cut -f 4 <<<"$mutants" | tr , '\n' | sort -u); do
  [ -f "$root/tests/$tests" ] || { echo "mutants: there is no tests/$tests" >&2; exit 2; }
  run_tests tests/croquis_tests "$tests" || { cat "$work/log"; echo "mutants: $tests fails without a mutant" >&2; exit 2; }
done

killed=0 survived=0 explained=0
while IFS=$'\t' read -r file original mutated tests mistake explanation; do
  text=$(<"$root/lib/croquis/$file")
  after=${text#*"$original"}
  if [ "$after" = "$text" ] || [[ $after = *"$original"* ]]; then
    echo "mutants: not exactly once in $file: $original" >&2
    exit 2
  fi
  rm -rf "$work/croquis" "$work"/*.o
  mkdir -p "$work/croquis/${file%/*}"
  printf '%s\n' "${text%%"$original"*}$mutated$after" >"$work/croquis/$file"
  sources=$file
  if [[ $file = *.hpp ]]; then # the sources that include it
    sources=$(cd "$root/lib/croquis" && grep -rl --include=*.cpp "<croquis/$file>" . | sed 's|^./||')
  fi
  objects=
  for source in $sources; do
    object=$work/$(basename "$source").o
    compile "$source" "$object"
    objects+=" $object"
  done
  # Before the library, which then has nothing left to offer from these files.
  program=${link/ tests\// $objects tests/}
  eval "${program/ -o tests\/croquis_tests/ -o $work/mutant}"
  status=0
  run_tests "$work/mutant" "$tests" || status=$?
  if [ $status -ne 0 ] && [ -z "$explanation" ]; then
    killed=$((killed + 1)) verdict=killed
    [ $status -ne 124 ] || verdict="killed after $limit s"
  elif [ $status -eq 0 ] && [ -n "$explanation" ]; then
    explained=$((explained + 1)) verdict=explained
  else
    survived=$((survived + 1)) verdict=SURVIVED
    [ $status -eq 0 ] || verdict="KILLED, though explained"
  fi
  echo "$verdict: $file: $mistake"
done <<<"$mutants"
echo "mutants: $killed killed, $explained explained, $survived not as the table says"
[ $survived -eq 0 ]
