"""Writes the wheel. A wheel is a zip of what is installed, with three files of metadata.

Usage: make.py VERSION GLIBC FOLDER, where GLIBC is as in 2_28, and FOLDER has `programs/` and gets
the wheel. Same input, same bytes: names are sorted, and times are SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

# Expanded by the dynamic linker to the folder of the library that opens the driver: pyopencl's own
# loader, in pyopencl/.libs. So the driver is not where only this loader would find it.
ICD = "$ORIGIN/../../brolga_opencl/libbrolga.so.0\n"

METADATA = """\
Metadata-Version: 2.4
Name: brolga-opencl
Version: {version}
Summary: An OpenCL driver for CPUs, which pyopencl finds by itself
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY.txt
Keywords: opencl,pyopencl,cpu,spir-v,icd
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Developers
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Rust
Classifier: Topic :: Software Development :: Compilers
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: brolga
Root-Is-Purelib: false
Tag: {tag}
"""


def main(version, glibc, folder):
    here = pathlib.Path(__file__).parent
    root = here.parents[2]
    programs = pathlib.Path(folder, "programs")
    tag = f"py3-none-manylinux_{glibc}_x86_64"
    info = f"brolga_opencl-{version}.dist-info"
    readme = (here / "README.md").read_text(encoding="utf-8")
    # Text, and whether it may be executed.
    files = {
        "pyopencl/.libs/brolga.icd": (ICD.encode(), False),
        "brolga_opencl/libbrolga.so.0": ((programs / "libbrolga.so.0").read_bytes(), True),
        "brolga_opencl/brolga-info": ((programs / "brolga-info").read_bytes(), True),
        f"{info}/METADATA": (METADATA.format(version=version, readme=readme).encode(), False),
        f"{info}/WHEEL": (WHEEL.format(tag=tag).encode(), False),
        f"{info}/licenses/LICENSE": ((root / "LICENSE").read_bytes(), False),
        f"{info}/licenses/THIRD-PARTY.txt": (
            pathlib.Path(folder, "THIRD-PARTY.txt").read_bytes(),
            False,
        ),
    }
    for path in sorted((here / "brolga_opencl").glob("*.py")):
        files[f"brolga_opencl/{path.name}"] = (path.read_bytes(), False)
    record = f"{info}/RECORD"
    rows = [f"{name},{digest(data)},{len(data)}" for name, (data, _) in files.items()]
    files[record] = ("\n".join([*rows, f"{record},,"]).encode() + b"\n", False)

    path = pathlib.Path(folder, f"brolga_opencl-{version}-{tag}.whl")
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        # What describes the wheel comes last, as the format asks.
        for name in sorted(files, key=lambda name: (name.startswith(info), name)):
            data, is_program = files[name]
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path)


def digest(data):
    """A hash as RECORD has it: base64 without padding."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


main(*sys.argv[1:])
