"""Puts a test database back to what its template held, in some milliseconds: a clone of all tables takes half a second.

Rows are deleted, not truncated: a table gets a new file with each TRUNCATE, and so does every index of it and of whatever
refers to it, and no connection can keep what it had learned of them.
"""

import psycopg
from psycopg import sql

# The connections that a test process keeps from test to test.
KEPT = "muster-suite"
# What the template holds, and the function that goes back to it. Tables come in the order of their creation. As a replica no
# foreign key is checked; the ledger's triggers refuse even then.
_REMEMBER = """
CREATE SCHEMA seed;
CREATE VIEW seed.tables AS
    SELECT c.oid::regclass AS name, n.nspname || '.' || c.relname AS path, pg_relation_size(c.oid) AS size,
        EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'append_only') AS guarded
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND (n.nspname IN ('shared', 'main') OR n.nspname LIKE 'tenant\\_%')
        AND c.relname NOT LIKE 'migrations\\_%' AND pg_relation_size(c.oid) > 0
    ORDER BY c.oid;
CREATE VIEW seed.identities AS
    SELECT d.objid::regclass AS name, pg_sequence_last_value(d.objid) AS last
    FROM pg_depend d JOIN pg_class c ON c.oid = d.objid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND c.relkind = 'S'
        AND (n.nspname IN ('shared', 'main') OR n.nspname LIKE 'tenant\\_%');
DO $$
DECLARE one record;
BEGIN
    FOR one IN TABLE seed.tables LOOP
        EXECUTE format('CREATE TABLE seed.%I AS TABLE %s', one.path, one.name);
    END LOOP;
END $$;
CREATE TABLE seed.reached AS TABLE seed.identities;
CREATE FUNCTION seed.forget() RETURNS SETOF regclass LANGUAGE plpgsql SET session_replication_role = replica AS $forget$
DECLARE one record; filled boolean;
BEGIN
    FOR one IN TABLE seed.tables LOOP
        IF one.guarded THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM %s)', one.name) INTO filled;
            CONTINUE WHEN NOT filled;
            EXECUTE format('ALTER TABLE %s DISABLE TRIGGER append_only', one.name);
        END IF;
        EXECUTE format('DELETE FROM %s', one.name);
        IF one.guarded THEN
            EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER append_only', one.name);
        END IF;
        IF one.size > 1000000 THEN RETURN NEXT one.name; END IF;
    END LOOP;
    FOR one IN
        SELECT c.relname, split_part(c.relname, '.', 1) AS space, split_part(c.relname, '.', 2) AS name
        FROM pg_class c WHERE c.relnamespace = 'seed'::regnamespace AND c.relkind = 'r' AND c.relname <> 'reached'
    LOOP
        EXECUTE format('INSERT INTO %I.%I TABLE seed.%I', one.space, one.name, one.relname);
    END LOOP;
    FOR one IN
        SELECT now.name, reached.last FROM seed.identities now LEFT JOIN seed.reached USING (name)
        WHERE now.last IS DISTINCT FROM reached.last
    LOOP
        PERFORM setval(one.name, coalesce(one.last, 1), one.last IS NOT NULL);
    END LOOP;
END $forget$;
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
    """The connection that `forget` takes."""
    connection = psycopg.connect(owner_url, autocommit=True)
    connection.execute("SET lock_timeout = '10s'")
    return connection


def forget(eraser: psycopg.Connection) -> None:
    """Ends the connections of everybody else and puts the rows back."""
    eraser.execute(_OTHERS_OUT, [KEPT])
    for (large,) in eraser.execute("SELECT seed.forget()::text").fetchall():
        # This is the only place that does it: each test after this one would look through what is left of the rows.
        space, _, name = large.rpartition(".")
        eraser.execute(sql.SQL("VACUUM {}").format(sql.Identifier(*filter(None, (space, name)))))
