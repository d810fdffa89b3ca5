#!/bin/sh
#SBATCH --job-name=kernelpoint
#SBATCH --array=1-@jobs@@at_once@
# One task a launch. When all have ended, the command that wrote this collects them.
eval "$(sed -n "${SLURM_ARRAY_TASK_ID}p" @list@)"
