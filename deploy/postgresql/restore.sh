#!/bin/sh
# Lays a base backup into an empty folder, and tells PostgreSQL to read on in the archive up to a moment:
#
#     restore.sh BASE_BACKUP ARCHIVE DATA '2026-11-24 14:30:00+00'
#
# Run it as postgres, with the server stopped. Then start the server over DATA: it stops at the moment, and takes writes.
# Without a moment it reads as far as the archive goes: the setting is then written empty, because the base backup of a restored server
# still has the moment of that restore. Its commits wait for no standby: a base backup brings that setting along too, and the standby
# that it names does not follow the restored server.
set -eu
umask 077
backup=$1
archive=$2
data=$3
moment=${4:-}

mkdir -p "$data"
if [ -n "$(ls -A "$data")" ]; then
    echo "$data is not empty: keep what is in it elsewhere first, it may hold the newest WAL" >&2
    exit 1
fi
chmod 700 "$data"
tar -xzf "$backup/base.tar.gz" -C "$data"
tar -xzf "$backup/pg_wal.tar.gz" -C "$data/pg_wal"
{
    echo "restore_command = 'cp \"$archive/%f\" \"%p\"'"
    echo "recovery_target_action = 'promote'"
    echo "synchronous_standby_names = ''"
    echo "recovery_target_time = '$moment'"
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
