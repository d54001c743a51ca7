"""Puts a test database back to what its template held, in some milliseconds: a clone of all tables takes half a second.

Rows are deleted, not truncated: a table gets a new file with each TRUNCATE, and so does every index of it and of
whatever refers to it, and no connection can keep what it had learned of them.
"""

import psycopg
from psycopg import sql

# The connections that a test process keeps from test to test.
KEPT = "muster-suite"
# What the template holds, and the function that goes back to it. Its statements are written out for each table:
# PostgreSQL keeps their plans, where a loop over names would plan hundreds of them for each test. The tables of a
# schema that a test made are emptied in such a loop. Tables come in the order of their creation.
_REMEMBER = """
CREATE SCHEMA seed;
CREATE VIEW seed.tables AS
    SELECT c.oid, c.oid::regclass AS name, n.oid AS space, n.nspname || '.' || c.relname AS path,
        EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'append_only') AS guarded
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND (n.nspname IN ('shared', 'main') OR n.nspname LIKE 'tenant\\_%')
        AND c.relname NOT LIKE 'migrations\\_%'
    ORDER BY c.oid;
DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT * FROM seed.tables WHERE pg_relation_size(oid) > 0 LOOP
        EXECUTE format('CREATE TABLE seed.%I AS TABLE %s', one.path, one.name);
    END LOOP;
END $$;
CREATE TABLE seed.spaces AS SELECT DISTINCT space FROM seed.tables;
CREATE TABLE seed.reached AS
    SELECT d.objid::regclass AS name, pg_sequence_last_value(d.objid) AS last
    FROM pg_depend d JOIN pg_class c ON c.oid = d.objid
    WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND c.relkind = 'S'
        AND c.relnamespace IN (SELECT space FROM seed.spaces);
CREATE FUNCTION seed.emptying(name regclass, guarded boolean) RETURNS text LANGUAGE sql AS $$
    SELECT format(CASE WHEN guarded THEN
        'IF EXISTS (SELECT FROM %1$s) THEN'
        ' ALTER TABLE %1$s DISABLE TRIGGER append_only; DELETE FROM %1$s; ALTER TABLE %1$s ENABLE ALWAYS TRIGGER append_only;'
        ' END IF;'
        ELSE 'DELETE FROM %1$s;' END, name)
$$;
DO $make$
DECLARE emptying text; filling text;
BEGIN
    SELECT string_agg(format('size := pg_relation_size(%s); IF size > 0 THEN %s'
        ' IF size > 1000000 THEN RETURN NEXT %L::regclass; END IF; END IF;',
        oid, seed.emptying(name, guarded), name), E'\n') INTO emptying FROM seed.tables;
    SELECT string_agg(format('INSERT INTO %s TABLE seed.%I;', name, path), E'\n') INTO filling
    FROM seed.tables WHERE to_regclass(format('seed.%I', path)) IS NOT NULL;
    EXECUTE format($text$
        CREATE FUNCTION seed.forget() RETURNS SETOF regclass LANGUAGE plpgsql AS $forget$
        DECLARE one record; size bigint;
        BEGIN
            %s
            FOR one IN SELECT oid, seed.emptying(name, guarded) AS text FROM seed.tables
                WHERE space IN (SELECT n.oid FROM pg_namespace n WHERE n.nspname LIKE 'tenant\\_%%'
                    AND n.oid NOT IN (SELECT space FROM seed.spaces))
            LOOP
                EXECUTE format('DO $do$ BEGIN %%s END $do$', one.text);
            END LOOP;
            %s
            PERFORM setval(name, coalesce(last, 1), last IS NOT NULL) FROM seed.reached
            WHERE pg_sequence_last_value(name) IS DISTINCT FROM last;
        END $forget$ $text$, emptying, filling);
END $make$;
"""
# Whatever else a test left connected, and what it left in the middle of a transaction.
_OTHERS_OUT = """
SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND (application_name <> %s OR state <> 'idle')
"""


def remember(owner_url: str) -> None:
    """Keeps what the tables hold now as what `forget` goes back to."""
    with psycopg.connect(owner_url) as connection:
        connection.execute(_REMEMBER)


def open_eraser(owner_url: str) -> psycopg.Connection:
    """The connection that `forget` takes. As a replica it checks no foreign key;
    the ledger's triggers refuse even then."""
    connection = psycopg.connect(owner_url, autocommit=True)
    connection.execute("SET lock_timeout = '10s'")
    connection.execute("SET session_replication_role = 'replica'")
    return connection


def forget(eraser: psycopg.Connection) -> None:
    """Ends the connections of everybody else and puts the rows back."""
    eraser.execute(_OTHERS_OUT, [KEPT])
    for (large,) in eraser.execute("SELECT seed.forget()::text").fetchall():
        # This is the only place that does it: each test after this one would look through what is left of the rows.
        space, _, name = large.rpartition(".")
        eraser.execute(sql.SQL("VACUUM {}").format(sql.Identifier(*filter(None, (space, name)))))
