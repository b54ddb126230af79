#!/usr/bin/env bash
# Installs Debian 12 packages, nothing else: without arguments what Croquis needs to be built and to draw plots.
#   install-dependencies.sh [tests] [mpi] [python] [browser] [PACKAGE...]
# adds what the tests need, runs of several processes, the Python package and its tests, tests of croquis report, and any
# other packages: mkdocs for the site. Run as root or with sudo. It does nothing when all of them are there.
set -euo pipefail

packages=(
  g++ cmake ninja-build                              # to build
  libarmadillo-dev libopenblas-openmp-dev            # linear algebra; the OpenMP variant of OpenBLAS has LAPACK in it
  libfftw3-dev                                       # Fourier and cosine transforms
  libzip-dev libutf8proc-dev libpcre2-dev            # .npz archives; text and regular expressions of tokenizers
  libxxhash-dev                                      # digests of inputs and of rows
  libboost-dev librandom123-dev libhwy-dev           # random numbers and statistics (header-only Boost), vectorised kernels
  libcli11-dev nlohmann-json3-dev libfmt-dev         # command line, metadata, formatting
  gnuplot-nox                                        # plots, at run time
)
for argument in "$@"; do
  case $argument in
    tests) packages+=(doctest-dev dpkg-dev file) ;; # the last two make the Debian package
    mpi) packages+=(libopenmpi-dev openmpi-bin) ;;
    python) packages+=(python3-dev python3-numpy pybind11-dev mypy) ;;
    browser) packages+=(chromium) ;;
    *) packages+=("$argument") ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "install-dependencies.sh: this is not a Debian system; install the equivalents of: ${packages[*]}" >&2
  exit 2
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install-dependencies.sh: run as root or install sudo; needed: ${missing[*]}" >&2; exit 2; }
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
