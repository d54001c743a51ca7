#!/bin/sh
# The two roles and the database of Muster, when the server of deploy/compose.yaml starts for the first time.
set -eu
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
    --set owner="$OWNER_PASSWORD" --set app="$APP_PASSWORD" <<'SQL'
CREATE ROLE muster_owner LOGIN PASSWORD :'owner';
CREATE ROLE muster_app LOGIN PASSWORD :'app';
CREATE DATABASE muster OWNER muster_owner;
SQL
