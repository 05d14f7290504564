"""Prints where the driver is registered or installed, or runs brolga-info."""

import argparse
import os
import sys

import brolga_opencl


def main():
    parser = argparse.ArgumentParser(prog="python -m brolga_opencl", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--icd", action="store_true", help="the .icd file, which is the default")
    which.add_argument("--library", action="store_true", help="the library, for OCL_ICD_VENDORS")
    which.add_argument("--register", metavar="FOLDER", help="write an .icd file for other loaders")
    which.add_argument("--info", action="store_true", help="what a report of a defect should say")
    arguments = parser.parse_args()
    if arguments.info:
        os.execv(brolga_opencl.info(), ["brolga-info"])
    if arguments.register:
        path = os.path.join(arguments.register, "brolga.icd")
        os.makedirs(arguments.register, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(brolga_opencl.library() + "\n")
        print(path)
    elif arguments.library:
        print(brolga_opencl.library())
    else:
        print(brolga_opencl.icd())
    return 0


if __name__ == "__main__":
    sys.exit(main())
