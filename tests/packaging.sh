#!/usr/bin/env bash
# The Debian package of a build folder: its fields, its files, the program in it, the completion, the manual page.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "packaging: $1" >&2; exit 1; }

(cd "$build" && cpack -G DEB -B "$work" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
package=$(echo "$work"/croquis_*.deb)
for field in Package Version Architecture Maintainer Section Description Depends; do
  [ -n "$(dpkg-deb -f "$package" $field)" ] || fail "no field $field"
done
depends=$(dpkg-deb -f "$package" Depends)
for library in libopenblas0-openmp libfftw3 libzip libfmt 'libg?omp' libutf8proc libpcre2 libc6; do # Clang's OpenMP is libomp
  [[ $depends =~ $library ]] || fail "Depends has no $library: $depends"
done

dpkg-deb -x "$package" "$work/root"
for file in bin/croquis lib/libcroquis.a lib/libcroquis_claims.a include/croquis/attention/method.hpp \
  include/croquis/claims/ledger.hpp lib/cmake/croquis/croquis-config.cmake \
  share/man/man1/croquis.1 share/bash-completion/completions/croquis share/doc/croquis/README.md \
  share/doc/croquis/copyright share/doc/croquis/LICENSE share/doc/croquis/docs/reproducibility.md; do
  [ -s "$work/root/usr/$file" ] || [ -s "$work/root/usr/${file/lib\//lib/$(uname -m)-linux-gnu/}" ] || fail "no $file"
done
# What the pages point to is there; text in backquotes and code are no links.
doc=$work/root/usr/share/doc/croquis
(cd "$doc" && find . -name '*.md' | while read -r page; do
  sed '/^```/,/^```/d; /^    /d; s/`[^`]*`//g' "$page" | { grep -oP '\]\(\K(?!https?:)[^)#\s]+' || true; } | sed "s|^|$page: $(dirname "$page")/|"
done) >"$work/links"
[ "$(wc -l <"$work/links")" -ge 200 ] || fail "too few links in the pages"
while read -r page target; do
  [ -e "$doc/$target" ] || fail "$page $target is not installed"
done <"$work/links"
python=$work/root/usr/lib/python3/dist-packages
if grep -q CROQUIS_PYTHON_DIR "$build/CMakeCache.txt"; then
  (cd "$work" && PYTHONPATH=$python /usr/bin/python3 -B -c "
import croquis, numpy
assert croquis.__file__.startswith('$python'), croquis.__file__
assert croquis.exact(numpy.ones((3, 2)), numpy.ones((4, 2)), numpy.ones((4, 5))).shape == (3, 5)")
fi
include=$work/root/usr/include
grep -rhoP '#include <\Kcroquis/[^>]+' "$include" | sort -u | while read -r header; do
  [ -s "$include/$header" ] || fail "$header is included by an installed header, and not installed"
done
program=$work/root/usr/bin/croquis
version=$("$program" --version)
for line in '^croquis: [0-9]' '^commit: [0-9a-f]' '^blas: OpenBLAS .*variant .*kernels .*thread' '^vector instructions: '; do
  grep -qE "$line" <<<"$version" || fail "--version has no line $line"
done

# Every command and every option of --help is in the manual page and is completed.
page=$(sed 's/\\-/-/g' "$work/root/usr/share/man/man1/croquis.1")
source "$work/root/usr/share/bash-completion/completions/croquis"
complete_line() { # words, the last one to be completed
  COMP_WORDS=("$program" "$@") COMP_CWORD=$# COMPREPLY=()
  _croquis
  printf '%s\n' "${COMPREPLY[@]}"
}
commands=$("$program" --help | awk '/^Subcommands/ {on = 1; next} /^$/ {on = 0} on {print $1}')
[ "$(wc -w <<<"$commands")" -ge 9 ] || fail "too few commands: $commands"
[ "$(complete_line '' | sort)" = "$(sort <<<"$commands")" ] || fail "commands are not completed"
options=0
for command in $commands; do
  completed=$(complete_line $command --)
  help=$("$program" $command --help) # kept: a pipe that grep -q leaves would make the program fail
  for option in $(grep -oE '(^|[ ,])--[a-z][a-z-]*' <<<"$help" | tr -d ' ,' | sort -u); do
    grep -qE "^  (-h,)?$option( |\$)" <<<"$help" || continue # named in the text of another option
    grep -qxe "$option" <<<"$completed" || fail "$command $option is not completed"
    grep -qE "^  (-h,)?$option( |\$)" <<<"$page" || fail "$command $option is not in the manual page"
    options=$((options + 1))
  done
done
[ $options -gt 240 ] || fail "only $options options"
[ "$(complete_line error --precision f)" = float ] || fail "the choices of --precision are not completed"
[ "$(complete_line list cl)" = claims ] || fail "the choices of list are not completed"
echo "$(basename "$package"), $(stat -c %s "$package") bytes; $options options completed and in the manual page"
echo "Depends: $depends"
