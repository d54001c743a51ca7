#!/bin/sh
# A base backup of the whole server: base-backup.sh FOLDER [OPTION…]; options go to pg_basebackup, such as --dbname=….
# It takes a role that may replicate, such as postgres. Each one gets a folder of its own, named after the time (UTC). Once
# a new one is there, older ones may go, and with them those pieces of the WAL that are older than the oldest that stays.
set -eu
umask 077
folder=$1
shift
mkdir -p "$folder"
name=$(date -u +%Y-%m-%dT%H%M%SZ)
trap 'rm -rf "$folder/$name.part"' EXIT
pg_basebackup --pgdata="$folder/$name.part" --format=tar --gzip --wal-method=stream --checkpoint=fast --no-password "$@"
mv "$folder/$name.part" "$folder/$name"
echo "$folder/$name"
