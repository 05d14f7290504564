"""Brolga, an OpenCL driver for CPUs: where it is installed.

pyopencl from PyPI finds the driver by itself. Other OpenCL loaders are told::

    import os, brolga_opencl
    os.environ["OCL_ICD_VENDORS"] = brolga_opencl.library()   # before the loader is opened
"""

import os

_here = os.path.dirname(os.path.abspath(__file__))


def library():
    """The path of the driver's library."""
    return os.path.join(_here, "libbrolga.so.0")


def icd():
    """The path of the ``.icd`` file that pyopencl's own loader reads."""
    return os.path.join(os.path.dirname(_here), "pyopencl", ".libs", "brolga.icd")


def info():
    """The path of the program ``brolga-info``."""
    return os.path.join(_here, "brolga-info")
