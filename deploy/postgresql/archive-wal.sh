#!/bin/sh
# Keeps one piece of the WAL: archive-wal.sh FROM TO. PostgreSQL calls it, and calls again until it ends with 0.
# Under its name a piece is whole, and on the disk. One that is there already is never replaced.
set -eu
from=$1
to=$2
if [ -e "$to" ]; then
    cmp -s "$from" "$to" && exit 0
    echo "$to is there already, and is another one: two servers must not share an archive" >&2
    exit 1
fi
cp "$from" "$to.part"
sync "$to.part"
mv "$to.part" "$to"
sync "$(dirname "$to")"
