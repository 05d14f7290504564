#!/bin/bash
# The MPI job on four nodes, one rank for each NUMA node: `sbatch slurm.sh`. SLURM gives each rank
# its processors, and the driver takes what it is given.
#SBATCH --job-name=brolga
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=32
#SBATCH --time=00:10:00
set -euo pipefail
cd "$(dirname "$(scontrol show job "$SLURM_JOB_ID" | sed -n 's/^ *Command=//p')")"
source ~/venv/bin/activate  # pip install mpi4py pyopencl brolga-opencl
srun --cpu-bind=cores --distribution=block:block python mpi_job.py 4194304 600 4096
