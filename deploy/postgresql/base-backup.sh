#!/bin/sh
# A base backup of the whole server: base-backup.sh FOLDER [OPTION…]; options go to pg_basebackup, such as --dbname=….
# It takes a role that may replicate, such as postgres. Each one gets a folder of its own, named after the time (UTC). Once
# a new one is there, older ones may go, and with them those pieces of the WAL that are older than the oldest that stays.
# MUSTER_BACKUP_PING is the address of the page Backups: it is called once the backup is there. It is a secret, so put it into the environment.
set -eu
umask 077
folder=$1
shift
mkdir -p "$folder"
name=$(date -u +%Y-%m-%dT%H%M%SZ)
trap 'rm -rf "$folder/$name.part"' EXIT
pg_basebackup --pgdata="$folder/$name.part" --format=tar --gzip --wal-method=stream --checkpoint=fast --no-password "$@"
mv "$folder/$name.part" "$folder/$name"
if [ -n "${MUSTER_BACKUP_PING:-}" ]; then
    # Not among the arguments, which every user of the machine sees. The backup is there, whatever becomes of the call.
    printf 'url = "%s"\n' "$MUSTER_BACKUP_PING" |
        curl --config - --fail --silent --output /dev/null --max-time 30 --retry 3 ||
        echo "Muster could not be told of the backup." >&2
fi
echo "$folder/$name"
