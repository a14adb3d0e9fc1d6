#!/bin/bash
# A part of an evaluation for each task of a SLURM array:
#   sbatch --array=1-16 slurm_parts.sh FOLDER DATASET [CONFIG] --translations FILE ...
# Part N writes FOLDER/N.parquet; a task that is started again continues it. See docs/scale.md.
#SBATCH --job-name=cc-hf-parts
#SBATCH --cpus-per-task=4
#SBATCH --time=04:00:00
#SBATCH --requeue
set -eu
export OMP_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"
folder=$1
shift
mkdir -p "$folder"
exec cc-hf evaluate "$@" --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --scores "$folder/$SLURM_ARRAY_TASK_ID.parquet"
