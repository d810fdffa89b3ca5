#!/bin/sh
#SBATCH --job-name=kernelpoint
#SBATCH --array=1-@shards@
# One task a shard. Submit it from its own folder: cd FOLDER && sbatch slurm.sh@arguments@
set -eu
cd -- "${SLURM_SUBMIT_DIR:-.}"
exec sh "./run-$SLURM_ARRAY_TASK_ID.sh" "$@"
