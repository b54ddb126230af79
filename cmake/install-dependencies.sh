#!/usr/bin/env bash
# Installs what Croquis needs to be built, tested and to draw plots: Debian 12 packages, nothing else.
# Run as root or with sudo. It does nothing when all of them are there. Arguments are more packages: mkdocs for the site;
# "python" are those of the Python package and its tests, "browser" is what tests of croquis report run in.
set -euo pipefail

more=()
for argument in "$@"; do
  if [ "$argument" = python ]; then
    more+=(python3-dev python3-numpy pybind11-dev mypy)
  elif [ "$argument" = browser ]; then
    more+=(chromium)
  else
    more+=("$argument")
  fi
done

packages=(
  g++ cmake ninja-build pkg-config      # to build
  libarmadillo-dev libopenblas-openmp-dev liblapack-dev  # linear algebra; the OpenMP variant of OpenBLAS
  libfftw3-dev                                       # Fourier and cosine transforms
  libzip-dev libutf8proc-dev libpcre2-dev            # .npz archives; text and regular expressions of tokenizers
  libxxhash-dev                                      # digests of inputs and of rows
  libboost-dev librandom123-dev libhwy-dev           # random numbers and statistics (header-only Boost), vectorised kernels
  libcli11-dev nlohmann-json3-dev libfmt-dev         # command line, metadata, formatting
  doctest-dev                                        # tests
  dpkg-dev file                                      # the Debian package
  libopenmpi-dev openmpi-bin                         # runs of several processes
  gnuplot-nox                                        # plots, at run time
  "${more[@]}"
)

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
