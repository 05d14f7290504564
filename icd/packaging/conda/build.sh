#!/usr/bin/env bash
# What conda-build runs: compiles the driver and the tools, and installs them below $PREFIX, where
# conda's ocl-icd looks for .icd files.
set -euo pipefail
cargo build --profile dist --locked -p brolga-icd -p brolga-info -p brolga-opencl-c --lib --bins
python3 icd/packaging/licences
built=${CARGO_TARGET_DIR:-target}/${CARGO_BUILD_TARGET:-}/dist
install -D -m 644 "$built/libbrolga.so" "$PREFIX/lib/brolga/libbrolga.so.0"
install -D -m 755 -t "$PREFIX/bin" "$built/brolga-info" "$built/brolga-clc"
strip --strip-unneeded "$PREFIX/lib/brolga/libbrolga.so.0" "$PREFIX/bin/brolga-info" "$PREFIX/bin/brolga-clc"
mkdir -p "$PREFIX/etc/OpenCL/vendors"
# conda writes the prefix of an installation in place of this one.
echo "$PREFIX/lib/brolga/libbrolga.so.0" >"$PREFIX/etc/OpenCL/vendors/brolga.icd"
