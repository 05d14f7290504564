"""The jobs of `jobs.py` by MPI: each rank has a part, rank 0 collects and checks.

    mpirun -n 2 --bind-to core python mpi_job.py

The driver has as many threads as the rank has processors: `--bind-to core`, `--map-by numa` and
the like divide a machine between its ranks.
"""

import sys

import numpy as np
from mpi4py import MPI

import jobs

COUNT, STEPS, SIZE = 1 << 19, 600, 1024


def main():
    world = MPI.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    count, steps, n = [int(word) for word in sys.argv[1:]] or (COUNT, STEPS, SIZE)
    device = jobs.Device()
    threads = world.gather(device.threads)
    if rank == 0:
        print(f"{ranks} ranks, threads of each: {threads}", flush=True)

    drives = jobs.drives(count)
    parts = np.array_split(np.arange(count), ranks)
    world.Barrier()
    start = MPI.Wtime()
    angles = world.gather(device.scan(np.ascontiguousarray(drives[parts[rank]]), steps))
    seconds = MPI.Wtime() - start
    if rank == 0:
        angles = np.concatenate(angles)
        jobs.check_scan(angles, steps)
        sent = angles.nbytes - angles[parts[0]].nbytes
        jobs.report("scan", ranks, seconds, count * steps, "Gsteps/s", sent)

    a, b = jobs.matrices(n) if rank == 0 else (None, np.empty((n, n), np.float32))
    blocks = np.array_split(np.arange(n // 4), ranks)
    world.Barrier()
    start = MPI.Wtime()
    world.Bcast(b)
    rows = [4 * block[0] for block in blocks] + [n]
    mine = world.scatter([a[rows[i] : rows[i + 1]] for i in range(ranks)] if rank == 0 else None)
    c = world.gather(device.product(mine, b))
    seconds = MPI.Wtime() - start
    if rank == 0:
        c = np.concatenate(c)
        jobs.check_product(c, a, b)
        others = (n - rows[1]) * n * 4
        jobs.report("product", ranks, seconds, 2 * n**3, "Gflop/s", 2 * others + (ranks - 1) * b.nbytes)
        print("the results are right", flush=True)


main()
