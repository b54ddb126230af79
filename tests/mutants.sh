#!/usr/bin/env bash
# Makes one mistake after the other in a copy of the library and runs the tests that ought to notice it:
#   tests/mutants.sh [PATTERN]     PATTERN, as of grep, chooses lines of tests/mutants.tsv; LIMIT: seconds a run of tests
# A mutant that survives and that the table does not explain is exit status 1. It takes what build/release has
# (cmake --build --preset release --target croquis_tests) and changes nothing there.
set -euo pipefail
pattern=${1:-.}
limit=${LIMIT:-600} # a mutant may hang
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY=passive
cd "$root/build/release"
link=$(ninja -t commands croquis_tests | tail -1)

stop() { echo "mutants: $1" >&2; exit 2; }

# run_tests PROGRAM TESTS: source files, with commas between
run_tests() { timeout "$limit" "$1" --source-file="*/tests/${2//,/,*/tests/}" --abort-after=1 &>"$work/log"; }

# compile SOURCE OBJECT: with the mutated files before the others
compile() {
  local command source=$work/croquis/$1
  command=$(sed -n "s|.*\"command\": \"\(.*\) -o [^ ]* -c $root/lib/croquis/$1\".*|\1|p" compile_commands.json)
  [ -f "$source" ] || source=$root/lib/croquis/$1
  eval "${command/ -I/ -I$work -I} -w -o $2 -c $source"
}

mutants=$(grep -v '^#' "$root/tests/mutants.tsv" | grep -e "$pattern") || stop "no line has '$pattern'"
for tests in $(cut -f 4 <<<"$mutants" | tr , '\n' | sort -u); do
  [ -f "$root/tests/$tests" ] || stop "there is no tests/$tests"
  run_tests tests/croquis_tests "$tests" || stop "tests/$tests fails without a mutant"
done

killed=0 explained=0 wrong=0
while IFS=$'\t' read -r file original mutated tests mistake explanation; do
  text=$(<"$root/lib/croquis/$file")
  after=${text#*"$original"}
  if [ "$after" = "$text" ] || [[ $after = *"$original"* ]]; then stop "not exactly once in $file: $original"; fi
  rm -rf "${work:?}"/*
  mkdir -p "$work/croquis/${file%/*}"
  printf '%s\n' "${text%%"$original"*}$mutated$after" >"$work/croquis/$file"
  sources=$file
  if [[ $file = *.hpp ]]; then # what includes it, by way of others too
    sources=$(ninja -t deps | awk -v header="/lib/croquis/$file" '
      /^[^ ]/ { object = $1 }
      substr($1, length($1) - length(header) + 1) == header { print object }' |
      sed -n 's|^lib/CMakeFiles/croquis.dir/croquis/\(.*\)\.o:$|\1|p')
  fi
  objects=
  for source in $sources; do
    object=$work/$(basename "$source").o
    compile "$source" "$object" || stop "does not compile: $file: $mistake"
    objects+=" $object"
  done
  # Before the library, which then has nothing left to offer from these files.
  program=${link/ tests\// $objects tests/}
  eval "${program/ -o tests\/croquis_tests/ -o $work/mutant}"
  status=0
  run_tests "$work/mutant" "$tests" || status=$?
  case $((status != 0))${explanation:+explained} in
    1) killed=$((killed + 1)) verdict=killed ;;
    0explained) explained=$((explained + 1)) verdict=explained ;;
    0) wrong=$((wrong + 1)) verdict=SURVIVED ;;
    *) wrong=$((wrong + 1)) verdict="KILLED, though explained" ;;
  esac
  echo "$verdict: $file: $mistake"
done <<<"$mutants"
echo "mutants: $killed killed, $explained explained, $wrong not as the table says"
[ $wrong -eq 0 ]
