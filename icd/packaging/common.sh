# What the commands of this folder share; they source it. It goes to the root of the checkout.
#
# Everything is made below target/packages: `programs/` has what was compiled, `debug/` its debug
# information, and the packages lie beside these.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

root=$PWD
packaging=$root/icd/packaging
out=$root/target/packages
target=x86_64-unknown-linux-gnu

# The oldest C library that packages run on; `check-binary` asserts it.
glibc=2.28

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)

# Files in packages are as old as the commit, so that the same sources make the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

step() {
    echo
    echo "== $*"
    "$@"
}

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# The tools of requirements.txt, in an environment of their own.
tools() {
    local venv=$root/target/packaging-tools
    if ! cmp -s "$packaging/requirements.txt" "$venv/installed"; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$packaging/requirements.txt"
        cp "$packaging/requirements.txt" "$venv/installed"
    fi
    PATH=$venv/bin:$PATH
}

# Debian packages that a command needs, by the name of a program of each.
needs() {
    while [ $# -gt 0 ]; do
        command -v "$1" >/dev/null || fail "$1 is missing (Debian: $2)"
        shift 2
    done
}
