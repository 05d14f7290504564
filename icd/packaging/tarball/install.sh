#!/bin/sh
# Installs Brolga, an OpenCL driver for CPUs, from the folder that this file is in, or removes it.
#
#   sh install.sh [--prefix FOLDER] [--vendors FOLDER] [--uninstall]
#
#   --prefix FOLDER    where programs, the library and pages go; /usr/local if not said
#   --vendors FOLDER   where the driver is registered: /etc/OpenCL/vendors if the prefix is /usr or
#                      /usr/local, and PREFIX/etc/OpenCL/vendors if it is another
#   --uninstall        removes what was installed with the same options
#
# DESTDIR in the environment is put before all paths, for those who make packages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=/usr/local
vendors=
uninstall=

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'
}
while [ $# -gt 0 ]; do
    case $1 in
        --prefix=*) prefix=${1#*=} ;;
        --vendors=*) vendors=${1#*=} ;;
        --prefix | --vendors)
            [ $# -gt 1 ] || { echo "install.sh: $1 wants a folder" >&2; exit 2; }
            case $1 in
                --prefix) prefix=$2 ;;
                *) vendors=$2 ;;
            esac
            shift
            ;;
        --uninstall) uninstall=1 ;;
        --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
case $prefix$vendors in
    *[!A-Za-z0-9/._+~-]*) echo "install.sh: a folder's name has characters that an .icd file cannot have" >&2; exit 2 ;;
esac
case $prefix in
    /usr | /usr/local) : "${vendors:=/etc/OpenCL/vendors}" ;;
    /*) : "${vendors:=$prefix/etc/OpenCL/vendors}" ;;
    *) echo "install.sh: the prefix is not an absolute path" >&2; exit 2 ;;
esac
root=${DESTDIR:-}
icd=$root$vendors/brolga.icd

# Each file of the archive by its path below the prefix.
files() {
    (cd "$here" && find bin lib share -type f | sort)
}

# Removes a folder and those above it, as far as they are empty.
remove_empty() {
    folder=$1
    while [ "$folder" != "$root" ] && [ "$folder" != / ] && rmdir "$folder" 2>/dev/null; do
        folder=$(dirname "$folder")
    done
}

if [ -n "$uninstall" ]; then
    files | while read -r file; do
        rm -f "$root$prefix/$file"
        remove_empty "$(dirname "$root$prefix/$file")"
    done
    rm -f "$icd"
    remove_empty "$root$vendors"
    echo "removed from $root$prefix"
    exit 0
fi

files | while read -r file; do
    mkdir -p "$(dirname "$root$prefix/$file")"
    # A library that a process has open is replaced, not overwritten.
    cp -p "$here/$file" "$root$prefix/$file.new"
    mv -f "$root$prefix/$file.new" "$root$prefix/$file"
done
mkdir -p "$root$vendors"
echo "$prefix/lib/brolga/libbrolga.so.0" >"$icd"
echo "installed in $root$prefix, registered by $icd"
if [ "$vendors" != /etc/OpenCL/vendors ]; then
    echo "loaders find it with OCL_ICD_VENDORS=$vendors"
fi
