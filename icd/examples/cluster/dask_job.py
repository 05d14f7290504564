"""The jobs of `jobs.py` by Dask: workers are processes, each with the driver.

    python dask_job.py [WORKERS]            starts workers on this machine
    python dask_job.py --scheduler ADDRESS  takes those of a cluster

A worker that Dask starts by forking would have the threads of its parent's driver and not have
them: Dask's are started afresh (`spawn`), and this program opens the driver in tasks only.
"""

import argparse
import time

import numpy as np
from distributed import Client, LocalCluster

COUNT, STEPS, SIZE = 1 << 19, 600, 1024


def device():
    """The worker's own, opened by its first task."""
    import jobs

    if not hasattr(device, "opened"):
        device.opened = jobs.Device()
    return device.opened


def threads():
    return device().threads


def scan(drives, steps):
    return device().scan(drives, steps)


def product(a, b):
    return device().product(a, b)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workers", nargs="?", type=int, default=2)
    parser.add_argument("--scheduler")
    arguments = parser.parse_args()
    if arguments.scheduler:
        client = Client(arguments.scheduler)
    else:
        # One thread of Python each: the driver's threads are what computes.
        cluster = LocalCluster(
            n_workers=arguments.workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
        )
        client = Client(cluster)
    with client:
        import jobs

        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        count = len(workers)
        print(f"{count} workers, threads of each: {list(client.run(threads).values())}", flush=True)

        drives = np.array_split(jobs.drives(COUNT), count)
        start = time.perf_counter()
        parts = [client.submit(scan, part, STEPS, workers=[w]) for part, w in zip(drives, workers)]
        angles = np.concatenate(client.gather(parts))
        seconds = time.perf_counter() - start
        jobs.check_scan(angles, STEPS)
        jobs.report("scan", count, seconds, COUNT * STEPS, "Gsteps/s", 2 * angles.nbytes)

        a, b = jobs.matrices(SIZE)
        start = time.perf_counter()
        [shared] = client.scatter([b], broadcast=True)
        blocks = [4 * block for block in np.array_split(np.arange(SIZE // 4), count)]
        rows = [block[0] for block in blocks] + [SIZE]
        parts = [
            client.submit(product, a[rows[i] : rows[i + 1]], shared, workers=[w])
            for i, w in enumerate(workers)
        ]
        c = np.concatenate(client.gather(parts))
        seconds = time.perf_counter() - start
        jobs.check_product(c, a, b)
        sent = a.nbytes + c.nbytes + count * b.nbytes
        jobs.report("product", count, seconds, 2 * SIZE**3, "Gflop/s", sent)
        print("the results are right", flush=True)


if __name__ == "__main__":
    main()
