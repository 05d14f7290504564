"""Two jobs that are split between processes, each with OpenCL on the processors that it is given:
a scan of parameters, which needs no communication, and a product of matrices by blocks of rows.

`mpi_job.py` and `dask_job.py` say who does which part; here is what a part is.
"""

import time

import numpy as np
import pyopencl as cl

KERNELS = """
// The angle of a damped, driven pendulum after some steps, for each strength of the drive.
kernel void scan(global float *angles, global const float *drives, int steps)
{
    size_t item = get_global_id(0);
    float angle = 0.2f, speed = 0.0f, drive = drives[item];
    const float step = 0.01f;
    for (int i = 0; i < steps; i++) {
        speed += step * (drive * cos(0.667f * step * i) - 0.5f * speed - sin(angle));
        angle += step * speed;
    }
    angles[item] = angle;
}

// Rows of a times b; each work-item has four rows of one column.
kernel void product(global float *c, global const float *a, global const float *b, int n)
{
    size_t column = get_global_id(0), row = 4 * get_global_id(1);
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < n; k++)
        for (int r = 0; r < 4; r++)
            sums[r] += a[(row + r) * n + k] * b[k * n + column];
    for (int r = 0; r < 4; r++)
        c[(row + r) * n + column] = sums[r];
}
"""


class Device:
    """Brolga in this process: a queue, and the kernels."""

    def __init__(self):
        platform = next(p for p in cl.get_platforms() if p.name == "Brolga")
        self.device = platform.get_devices()[0]
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context)
        program = cl.Program(self.context, KERNELS).build()
        self.scan_kernel, self.product_kernel = program.scan, program.product
        self.threads = self.device.max_compute_units
        self.scan(np.zeros(16, np.float32), 1)
        self.product(np.zeros((4, 16), np.float32), np.zeros((16, 16), np.float32))

    def _input(self, values):
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
        return cl.Buffer(self.context, flags, hostbuf=values)

    def scan(self, drives, steps):
        angles = np.empty_like(drives)
        out = cl.Buffer(self.context, cl.mem_flags.WRITE_ONLY, angles.nbytes)
        self.scan_kernel(self.queue, drives.shape, None, out, self._input(drives), np.int32(steps))
        cl.enqueue_copy(self.queue, angles, out)
        return angles

    def product(self, a, b):
        rows, n = a.shape
        c = np.empty((rows, n), np.float32)
        out = cl.Buffer(self.context, cl.mem_flags.WRITE_ONLY, c.nbytes)
        self.product_kernel(
            self.queue, (n, rows // 4), None, out, self._input(a), self._input(b), np.int32(n)
        )
        cl.enqueue_copy(self.queue, c, out)
        return c


def timed(work, *arguments):
    """What the work returns, and seconds."""
    start = time.perf_counter()
    result = work(*arguments)
    return result, time.perf_counter() - start


def drives(count):
    return np.linspace(0.5, 1.5, count, dtype=np.float32)


def matrices(n):
    random = np.random.default_rng(1)
    return random.random((n, n), np.float32), random.random((n, n), np.float32)


def check_scan(angles, steps):
    """A sample of the angles, computed again by numpy. The pendulum may be chaotic at these
    drives, so steps are few enough that rounding stays small."""
    sample = slice(None, None, max(1, len(angles) // 64))
    drive = drives(len(angles))[sample].astype(np.float64)
    angle, speed = np.full_like(drive, 0.2), np.zeros_like(drive)
    for i in range(steps):
        speed += 0.01 * (drive * np.cos(0.667 * 0.01 * i) - 0.5 * speed - np.sin(angle))
        angle += 0.01 * speed
    worst = np.abs(angles[sample] - angle).max()
    assert worst < 1e-2, f"the scan is wrong: {worst}"


def check_product(c, a, b):
    rows = slice(None, None, max(1, len(c) // 32))
    expected = a[rows].astype(np.float64) @ b.astype(np.float64)
    worst = np.abs(c[rows] / expected - 1.0).max()
    assert worst < 1e-4, f"the product is wrong: {worst}"


def report(name, parts, seconds, work, unit, sent):
    """One line for a job: `sent` bytes went between processes. On one machine they went through
    its memory; what a network would add is a model: 10 Gbit/s and 50 microseconds a message."""
    network = sent * 8 / 10e9 + 2 * parts * 50e-6
    print(
        f"{name}: {parts} processes, {seconds * 1e3:.1f} ms, {work / seconds / 1e9:.2f} {unit}; "
        f"{sent / 1e6:.1f} MB sent, modelled as {network * 1e3:.1f} ms on 10 Gbit/s",
        flush=True,
    )
