"""Python as a host: faulthandler, before and after the driver's own handlers are installed; faults
of Python itself; processes that are forked and spawned; signals and exits.

    python3 host.py LIBRARY
"""

import ctypes
import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import threading

host = ctypes.CDLL(sys.argv[1])


def right():
    return host.host_right()


def ends(case, expected, said=""):
    """Runs a case of this file in a process of its own: how it ends, and what it says."""
    child = subprocess.run(
        [sys.executable, __file__, sys.argv[1], case], capture_output=True, text=True, timeout=120
    )
    assert child.returncode == expected, f"{case}: {child.returncode}\n{child.stdout}{child.stderr}"
    assert said in child.stderr, f"{case}: {child.stderr}"
    print(f"{case}: as expected", flush=True)


# Each is a process.
def faulthandler_before():
    """The driver's handler is asked first, and kernels' faults are no matter of Python's."""
    faulthandler.enable()
    assert host.host_fault() == 0


def faulthandler_after():
    """Python's handler is asked first, and ends the process at any fault, a kernel's too."""
    assert right() == 0
    faulthandler.enable()
    host.host_fault()


def own_fault():
    """A fault of Python's is told of by faulthandler, and ends the process, as without OpenCL."""
    faulthandler.enable()
    assert host.host_fault() == 0
    ctypes.string_at(16)


def interrupt():
    """SIGINT becomes an exception, with the driver's threads asleep."""
    assert right() == 0
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        assert right() == 0


def fork_before():
    """Children that are forked before the driver is used have it, each for itself."""
    with multiprocessing.get_context("fork").Pool(3) as pool:
        results = [pool.apply_async(right) for _ in range(3)]
        assert [result.get(60) for result in results] == [0, 0, 0]
    assert right() == 0


def fork_after():
    """Children that are forked after that have none, are told so, and do all else as before."""
    assert right() == 0
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(abs, range(-1000, 0), chunksize=10) == list(range(1000, 0, -1))
        assert pool.apply(right) != 0
    assert right() == 0


def spawn():
    """Children that are spawned have the driver, whatever their parent has."""
    assert right() == 0
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(host_of_child, [sys.argv[1]] * 4) == [0] * 4


def host_of_child(library):
    return ctypes.CDLL(library).host_right()


def threads():
    """Threads of Python's use the driver, one after the other, and end."""
    results = []
    workers = [threading.Thread(target=lambda: results.append(right())) for _ in range(8)]
    for worker in workers:
        worker.start()
        worker.join()
    assert results == [0] * 8


def leave():
    """Exits with the driver's threads alive."""
    assert right() == 0
    sys.exit(7)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        globals()[sys.argv[2]]()
    else:
        ends("faulthandler_before", 0)
        ends("faulthandler_after", -signal.SIGSEGV, "Fatal Python error: Segmentation fault")
        ends("own_fault", -signal.SIGSEGV, "Fatal Python error: Segmentation fault")
        ends("interrupt", 0)
        ends("fork_before", 0)
        ends("fork_after", 0, "so it has no OpenCL")
        ends("spawn", 0)
        ends("threads", 0)
        ends("leave", 7)
        print("Python is the host that it was")
