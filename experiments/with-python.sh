# Sourced by the run.sh of an experiment in Python, whose first lines set `here`, with its arguments:
#   source "$here/../with-python.sh" MODULE,... [--smoke] [--out FOLDER] [other arguments]
# --smoke adds the array `smoke` to the arguments, where it has been set, and results go to results/NAME-smoke/ then.
# Sets `python` ($PYTHON or python3), `out` (default: results, made if it is not there) and the array `given` of the other arguments, and finds
# the package of the build, or else that of PYTHONPATH. Exit status 2 without a module (torch: python3-torch) or the package.
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3} out=$here/results modules=$1
shift
if [ "${1:-}" = --smoke ] && [ -n "${smoke+set}" ]; then
  shift
  out=$root/results/$(basename "$here")-smoke
  set -- "$@" "${smoke[@]}"
fi
if [ "${1:-}" = --out ]; then out=${2:?--out needs a folder}; shift 2; fi
given=("$@")
export PYTHONPATH=$root/build/release/python:${PYTHONPATH:-} PYTHONDONTWRITEBYTECODE=1
for module in ${modules//,/ }; do
  "$python" -c "import $module" 2>/dev/null && continue
  case $module in
    croquis) missing="build the package first: cmake --preset release -DCROQUIS_WITH_CLAIMS=ON; cmake --build --preset release --target croquis_python" ;;
    *) missing="$python has no PyTorch (python3-torch)" ;;
  esac
  echo "$(basename "$here"): $missing" >&2
  exit 2
done
mkdir -p "$out" && out=$(cd "$out" && pwd)
