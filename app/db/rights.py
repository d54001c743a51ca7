"""What the app's role may do with the tables: read and write rows, never alter a table. It changes no row of
append-only tables, and adds or removes no row where a table always has exactly one."""

import json
from collections import defaultdict
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from sqlalchemy import Connection, text

from app.db.base import Base
from app.db.steps import MODULES, version_table

# For each kind of object: its name in SQL, the rights that the role gets, and those that are taken from it.
_KINDS = {
    "table": ("TABLE", "SELECT, INSERT, UPDATE, DELETE", ""),
    "append_only": ("TABLE", "SELECT, INSERT", "UPDATE, DELETE, TRUNCATE"),
    "one_row": ("TABLE", "SELECT, UPDATE", "INSERT, DELETE, TRUNCATE"),
    "sequence": ("SEQUENCE", "USAGE", ""),
    "schema": ("SCHEMA", "USAGE", ""),
    "routine": ("ROUTINE", "EXECUTE", ""),
}
# Finds objects by their dependency on a schema, which has an index: many tenants have very many tables.
_FOUND = """
WITH role AS (SELECT to_regrole(quote_ident(:role))::oid AS id),
wanted AS (SELECT key AS kind, string_to_array(value ->> 1, ', ') AS given, string_to_array(value ->> 2, ', ') AS taken
    FROM jsonb_each(CAST(:kinds AS jsonb))),
held AS (
    SELECT n.nspname, d.classid, d.objid FROM pg_namespace n
    JOIN pg_depend d ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid WHERE n.nspname = ANY(:schemas)
),
found AS (
    SELECT nspname AS schema, 'schema' AS kind, quote_ident(nspname) AS named, nspacl AS acl
    FROM pg_namespace WHERE nspname = ANY(:schemas)
    UNION ALL
    SELECT nspname, CASE WHEN c.relkind = 'S' THEN 'sequence' WHEN c.relname = ANY(:append_only) THEN 'append_only'
        WHEN c.relname = ANY(:one_row) THEN 'one_row' ELSE 'table' END, format('%I.%I', nspname, c.relname), c.relacl
    FROM held JOIN pg_class c ON classid = 'pg_class'::regclass AND c.oid = objid
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    UNION ALL
    SELECT nspname, 'routine', format('%I.%I(%s)', nspname, p.proname, pg_get_function_identity_arguments(p.oid)), p.proacl
    FROM held JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid
)
SELECT schema, kind, named FROM found JOIN wanted USING (kind) CROSS JOIN role CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(privilege_type) FILTER (WHERE grantee = role.id), '{}') AS own,
        coalesce(bool_or(grantee = 0), kind = 'routine' AND acl IS NULL) AS everybody
    FROM aclexplode(acl)
) AS has
WHERE NOT own @> given OR own && taken OR kind = 'routine' AND everybody
"""


def lacking(connection: Connection, schemas: Iterable[str], app_role: str) -> set[str]:
    """The schemas in which the role lacks a right, or has one too many."""
    return {row.schema for row in _wrong(connection, schemas, app_role)}


def grant(connection: Connection, schema: str, app_role: str) -> None:
    """Grants and revokes rights as needed. Writes nothing when they are right already."""
    wrong = defaultdict(list)
    for row in _wrong(connection, [schema], app_role):
        wrong[row.kind].append(row.named)
    for kind, names in wrong.items():
        word, given, taken = _KINDS[kind]
        objects = f"{word} {', '.join(names)}"
        connection.exec_driver_sql(f'GRANT {given} ON {objects} TO "{app_role}"')
        if taken:
            connection.exec_driver_sql(f'REVOKE {taken} ON {objects} FROM "{app_role}"')
        if kind == "routine":
            connection.exec_driver_sql(f"REVOKE EXECUTE ON {objects} FROM PUBLIC")


def _wrong(connection: Connection, schemas: Iterable[str], app_role: str) -> Iterable[Any]:
    versions = {version_table(module) for module in MODULES}
    asked = {
        "role": app_role,
        "kinds": json.dumps(_KINDS),
        "schemas": list(schemas),
        "append_only": sorted(_marked("append_only") | versions),
        "one_row": sorted(_marked("one_row")),
    }
    return connection.execute(text(_FOUND), asked)


def _marked(mark: str) -> set[str]:
    """Tables whose model says `info={mark: True}`."""
    for names in MODULES.values():
        for name in names:
            import_module(name)
    return {table.name for table in Base.metadata.tables.values() if table.info.get(mark)}
