#!/usr/bin/env bash
# Makes one mistake after the other in a copy of the library and runs the tests that ought to notice it:
#   tests/mutants.sh [PATTERN]           PATTERN, as of grep, chooses lines of tests/mutants.tsv; LIMIT: seconds a run of tests
#   tests/mutants.sh --check [PATTERN]   says which lines do not fit the sources any more, and makes nothing
# A mutant that survives and that the table does not explain is exit status 1, lines that do not fit are 2. It takes what
# build/release has and changes nothing there; each file has to be compiled by itself:
#   cmake --preset release -DCROQUIS_UNITY_BUILD=OFF
#   cmake --build --preset release --target croquis_tests croquis_rank_tests croquis_claim_tests
set -euo pipefail
check=
if [ "${1:-}" = --check ]; then check=yes && shift; fi
pattern=${1:-.}
limit=${LIMIT:-600} # a mutant may hang
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

stop() { echo "mutants: $1" >&2; exit 2; }

mutants=$(grep -v '^#' "$root/tests/mutants.tsv" | grep -e "$pattern") || stop "no line has '$pattern'"

# once TEXT PART: text has the part, and a second time nowhere
once() { local after=${1#*"$2"}; [ "$after" != "$1" ] && [[ $after != *"$2"* ]]; }

# What does not fit, all of it at once.
fits=yes
while IFS=$'\t' read -r file original mutated tests mistake explanation; do
  wrong=
  if [ ! -f "$root/lib/croquis/$file" ]; then
    wrong="there is no such file"
  elif ! once "$(<"$root/lib/croquis/$file")" "$original"; then
    wrong="not exactly once in it: $original"
  elif [ "$original" = "$mutated" ] || [ -z "$mistake" ]; then
    wrong="no mistake: $original"
  fi
  for test in ${tests//,/ }; do
    [ -f "$root/tests/$test" ] || wrong="there is no tests/$test"
  done
  if [ -n "$wrong" ]; then fits= && echo "$file: $wrong" >&2; fi
done <<<"$mutants"
[ -n "$fits" ] || stop "lines of tests/mutants.tsv do not fit the sources"
if [ -n "$check" ]; then exit 0; fi

# As root, in a container, and without a cache of objects that nobody asks for again (tests/CMakeLists.txt).
export OMP_WAIT_POLICY=passive CCACHE_DISABLE=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm=isolated
cd "$root/build/release"
grep -q '^CROQUIS_UNITY_BUILD:BOOL=ON' CMakeCache.txt &&
  stop "build/release compiles several files at a time; cmake --preset release -DCROQUIS_UNITY_BUILD=OFF, and build it again"

# program_of TESTS: the one that has them
program_of() {
  case $1 in
    claims/*) echo croquis_claim_tests ;;
    distributed/*) echo croquis_rank_tests ;;
    *) echo croquis_tests ;;
  esac
}

# run_tests PROGRAM TESTS: source files of one program, with commas between
run_tests() {
  local command=("$1" "--source-file=*/tests/${2//,/,*/tests/}")
  case $2 in
    distributed/*) command=(mpiexec --oversubscribe -n 2 "${command[@]}") ;; # a rank that stops leaves the other waiting
    *) command+=(--abort-after=1) ;;
  esac
  timeout --kill-after=10 "$limit" "${command[@]}" </dev/null &>"$work/log" # mpiexec would read the table
}

# compile SOURCE OBJECT: with the mutated files before the others
compile() {
  local command source=$work/croquis/$1
  command=$(sed -n "s|.*\"command\": \"\(.*\) -o [^ ]* -c $root/lib/croquis/$1\".*|\1|p" compile_commands.json)
  [ -f "$source" ] || source=$root/lib/croquis/$1
  eval "${command/ -I/ -I$work -I} -w -o $2 -c $source"
}

# users_of HEADER PROGRAM: the sources that include it, by way of others too; those of the claims where the program is theirs
users_of() {
  local claims=d
  [ "$2" = croquis_claim_tests ] && claims='s|^lib/.*/croquis_claims.dir/\(.*\)\.o:$|claims/\1|p'
  ninja -t deps | awk -v header="/lib/croquis/$1" '
    /^[^ ]/ { object = $1 }
    substr($1, length($1) - length(header) + 1) == header { print object }' |
    sed -n -e 's|^lib/CMakeFiles/croquis.dir/croquis/\(.*\)\.o:$|\1|p' -e "$claims"
}

for tests in $(cut -f 4 <<<"$mutants" | tr , '\n' | sort -u); do
  run_tests "tests/$(program_of "$tests")" "$tests" || stop "tests/$tests fails without a mutant"
done

killed=0 explained=0 wrong=0
while IFS=$'\t' read -r file original mutated tests mistake explanation; do
  text=$(<"$root/lib/croquis/$file")
  rm -rf "${work:?}"/*
  mkdir -p "$work/croquis/${file%/*}"
  printf '%s\n' "${text%%"$original"*}$mutated${text#*"$original"}" >"$work/croquis/$file"
  tested=$(program_of "$tests")
  sources=$file
  if [[ $file = *.hpp ]]; then sources=$(users_of "$file" "$tested"); fi
  objects=
  for source in $sources; do
    object=$work/${source//\//_}.o
    compile "$source" "$object" || stop "does not compile: $file: $mistake"
    objects+=" $object"
  done
  # Before the libraries, which then have nothing left to offer from these files.
  link=$(ninja -t commands "$tested" | tail -1)
  link=${link/ tests\// $objects tests/}
  eval "${link/ -o tests\/$tested/ -o $work/mutant}"
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
