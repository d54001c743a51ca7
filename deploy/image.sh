#!/bin/sh
# Builds the image where there is no docker, and tries it: buildah in chroot isolation, over a base that debootstrap makes.
# The recipe is the Dockerfile; only its base is another one, Debian 12 with its own Python. Needs root and the packages
# buildah and debootstrap. Everything lies below one folder, and a second run takes the base from there.
#
#     deploy/image.sh FOLDER [OPTION…]                    options go to `buildah build`
#     deploy/image.sh FOLDER --run COMMAND [ARGUMENT…]    one command in the image, on this machine's network
#     DEBIAN_MIRROR=…                                     where debootstrap fetches the base
set -eu

if [ $# -lt 1 ]; then
    echo "usage: deploy/image.sh FOLDER [OPTION…] | FOLDER --run COMMAND [ARGUMENT…]" >&2
    exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
code=$(cd "$(dirname "$0")/.." && pwd)
image=${MUSTER_IMAGE:-localhost/muster}
base=localhost/muster-base

for tool in buildah debootstrap; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install buildah debootstrap" >&2; exit 1; }
done

stored() { buildah --root "$folder/images" --runroot "$folder/run" --storage-driver vfs "$@"; }

# What starts here sees the variables of the caller that are named MUSTER_…, and no other. They come in a file that its user alone
# reads: buildah takes no names without values, and every user of this machine sees arguments.
run() {
    container=$(stored from --pull-never "$image")
    settings=$(mktemp)
    trap 'rm -f "$settings"; stored rm "$container" >/dev/null' EXIT
    export -p | grep '^export MUSTER_' >"$settings" || true
    chown 10001 "$settings"
    stored run --isolation chroot --user muster --volume "$settings:/run/muster.env:ro" "$container" -- \
        sh -c '. /run/muster.env && exec "$@"' sh "$@"
}

make_base() {
    # shellcheck disable=SC2086 # no mirror: the one that debootstrap knows
    debootstrap --variant=minbase --include=python3-venv,python-is-python3,ca-certificates \
        bookworm "$folder/base" ${DEBIAN_MIRROR:-}
    rm -rf "$folder"/base/var/cache/apt/archives/*.deb "$folder"/base/var/lib/apt/lists/*
    container=$(stored from scratch)
    stored add "$container" "$folder/base" / >/dev/null
    stored commit --rm "$container" "$base" >/dev/null
    rm -rf "$folder/base"
}

if [ "${1:-}" = --run ]; then
    shift
    run "$@"
    exit
fi
stored inspect --type image "$base" >/dev/null 2>&1 || make_base
stored build --isolation chroot --pull-never --format docker --build-arg "BASE=$base" --tag "$image" "$@" "$code"
run muster --version
