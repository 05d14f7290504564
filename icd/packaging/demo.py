"""A kernel on the first device of Brolga's that pyopencl finds; its result is checked.

    pip install pyopencl brolga-opencl
    python demo.py
"""

import numpy as np
import pyopencl as cl

KERNEL = """
#pragma OPENCL FP_CONTRACT OFF  // as numpy rounds
kernel void mandelbrot(global int *image, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    double2 c = (double2)(3.0 * x / width - 2.0, 2.0 * y / height - 1.0), z = 0.0;
    int steps = 0;
    while (steps < 256 && z.x * z.x + z.y * z.y <= 4.0) {
        z = (double2)(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        steps++;
    }
    image[y * width + x] = steps;
}
"""


def main():
    platforms = cl.get_platforms()
    device = next(p for p in platforms if p.name == "Brolga").get_devices()[0]
    print(f"{device.platform.version} on {device.name}, driver {device.driver_version}")
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    width, height = 960, 640
    image = np.empty((height, width), np.int32)
    buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, image.nbytes)
    program = cl.Program(context, KERNEL).build()
    done = program.mandelbrot(queue, (width, height), None, buffer, np.int32(width), np.int32(height))
    cl.enqueue_copy(queue, image, buffer)
    print(f"mandelbrot, {width} by {height}: {(done.profile.end - done.profile.start) / 1e6:.1f} ms")
    assert (image == expected(width, height)).all(), "the result is wrong"
    for line in image[::40, ::12]:
        print("".join(" .:-=+*#%@"[min(9, step // 4)] for step in line))
    print("the result is right")


def expected(width, height):
    """The same, by numpy."""
    x, y = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)[:, None]
    c = (3.0 * x / width - 2.0) + 1j * (2.0 * y / height - 1.0)
    zx, zy = np.zeros(c.shape), np.zeros(c.shape)
    steps = np.zeros(c.shape, np.int32)
    inside = np.ones(c.shape, bool)
    for _ in range(256):
        inside &= zx * zx + zy * zy <= 4.0
        steps += inside
        zx, zy = np.where(inside, zx * zx - zy * zy + c.real, zx), np.where(
            inside, 2.0 * zx * zy + c.imag, zy
        )
    return steps


main()
