#!/usr/bin/env bash
# Gives a reader of files what libFuzzer makes of right files, under the address and undefined-behaviour sanitizers, until
# it finds a defect or is stopped:
#   tests/fuzz.sh READER [OPTION OF LIBFUZZER...]       tests/fuzz.sh list: the readers
#   tests/fuzz.sh npy -runs=1000000 -max_len=400
# It needs clang-14, libclang-rt-14-dev and a build of the library in build/release (BUILD: another one), whose other
# parts it takes as they are. What it compiles, and inputs that reach new lines, are in build/fuzz/.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build/release}
work=$root/build/fuzz
reader=${1:?fuzz: which reader? list shows them}
shift

compile=(clang++-14 -std=c++20 -O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined
  -fno-sanitize-recover=all -fsanitize-recover=null -DARMA_DONT_USE_WRAPPER -DARMA_DONT_USE_OPENMP -DARMA_WARN_LEVEL=0
  -DCROQUIS_TORCH_REFERENCE="\"$root/tests/models/torch_reference.txt\""
  -I"$root/lib" -I"$build/lib/include" -I"$root/tests"
  -I"$root/apps/croquis" -I"$build/apps")
mkdir -p "$work/found/$reader"

# Eight files of a folder at a time, as CROQUIS_UNITY_BUILD has them: half of the time goes to Armadillo's headers.
objects=() of_tests=()
together() { # NAME FILE...
  local name=$1 object=$work/$1.o
  shift
  objects+=("$object")
  if [ -f "$object" ] && [ -z "$(find "$root/lib" "$@" "${of_tests[@]}" -newer "$object" -print -quit)" ]; then return; fi
  printf '#include "%s"\n' "$@" | "${compile[@]}" -x c++ -c - -o "$object"
}
for folder in io models; do
  files=("$root/lib/croquis/$folder"/*.cpp)
  for ((i = 0; i < ${#files[@]}; i += 8)); do together "$folder-$i" "${files[@]:i:8}"; done
done
of_tests=("$root"/tests/{fuzz,support})
of_tests+=("$root"/apps/croquis)
for source in "$root"/apps/croquis/report/*.cpp "$root"/apps/croquis/{files/metadata,commands/merge}.cpp; do
  together "$(basename "$source" .cpp)" "$source"
done
together tests "$root"/lib/croquis/measure/choice_file.cpp "$root"/tests/fuzz/*.cpp \
  "$root"/tests/support/{archives,files,formula_model,torch_files}.cpp

# What is in the build too is taken from these objects, which come first.
linked=$(ninja -C "$build" -t commands croquis_program | tail -1 | sed "s|[^ ]*/main.cpp.o||; s|.*-DNDEBUG||; s|-o apps/croquis||; s| && :||; s# \(apps\|lib\)/# $build/\1/#g")
clang++-14 -fsanitize=fuzzer,address,undefined -Wl,--allow-multiple-definition "${objects[@]}" $linked -o "$work/fuzz"

export CROQUIS_FUZZ_READER=$reader CROQUIS_FUZZ_RIGHT=$work/found/$reader
export UBSAN_OPTIONS=print_stacktrace=1:suppressions=$root/tests/support/ubsan.supp ASAN_OPTIONS=allocator_may_return_null=1
cd "$work"
if [ "$reader" = result ] || [ "$reader" = part ]; then
  while read -r name command; do
    "$build/apps/croquis" $command --p 4 --quiet --overwrite --out "$name.csv" >/dev/null
    { cat "$name.csv" && printf '\0' && cat "$name.meta.json"; } >"found/$reader/$name"
  done <<'END'
error error --input gaussian --n 16 --methods v-mean,skyformer --features 4,8 --trials 2
gradient gradient --input gaussian --n 16 --methods v-mean,skyformer --features 4 --trials 2
choose choose --input gaussian --n 12 --features 4 --methods v-mean --max-cost 9 --trials 9
spectrum spectrum --input gaussian --n 8
dimension dimension --n 16 --trials 2
sketch sketch --input gaussian --n 12 --features 4 --trials 2 --sketches gaussian --landmarks uniform --rank 2
variance variance --keys 8 --norms 1 --features 4 --trials 2
cost cost --n 16 --features 4 --methods skyformer --repeats 1 --warmup 0
verify verify --input gaussian --n 12 --claims sky.conditioning --quick
END
fi
exec ./fuzz -malloc_limit_mb=256 -timeout=10 "$@" "$work/found/$reader"
