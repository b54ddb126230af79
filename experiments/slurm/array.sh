#!/bin/bash
# A sweep as a Slurm array: task i of N computes shard i/N. Submit with
#   sbatch --array=1-N experiments/slurm/array.sh COMMAND [options]
# for instance: sbatch --array=1-16 experiments/slurm/array.sh error --methods all --trials 200
# A task that is submitted again goes on where it was stopped. README.md has the rest.
#SBATCH --job-name=croquis
#SBATCH --cpus-per-task=4
#SBATCH --time=04:00:00
#SBATCH --output=shards/%A-%a.log
#SBATCH --signal=B:TERM@60
set -euo pipefail
croquis=${CROQUIS:-croquis}
i=${SLURM_ARRAY_TASK_ID:?start this with sbatch --array=1-N, or set SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT}
n=${SHARDS:-${SLURM_ARRAY_TASK_COUNT:?}}
mkdir -p shards
# exec: the signal that comes a minute before the time is up goes to croquis, which ends with whole rows.
exec "$croquis" "$@" --shard "$i/$n" --out "shards/$1-$i.csv" --resume --quiet --threads "${SLURM_CPUS_PER_TASK:-1}"
