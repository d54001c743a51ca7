"""What a pooler in front of the database says of itself. Only PgBouncer is known."""

import re

import psycopg
from psycopg.conninfo import make_conninfo

from app.config import ConfigError

# From this version on it keeps prepared statements by their names, which the driver uses.
OLDEST = (1, 21)
PATIENCE_S = 5


def version(url: str) -> tuple[int, int] | None:
    """None when it does not answer: it only answers users in its `stats_users` or `admin_users`."""
    try:
        with psycopg.connect(
            make_conninfo(url, dbname="pgbouncer", connect_timeout=PATIENCE_S, target_session_attrs="any"),
            autocommit=True,
        ) as asked:
            said = asked.pgconn.exec_(b"SHOW VERSION").get_value(0, 0)
    except psycopg.Error:
        return None
    found = re.search(rb"PgBouncer (\d+)\.(\d+)", said or b"")
    return (int(found[1]), int(found[2])) if found else None


def refuse_old(url: str) -> None:
    """Raises ConfigError for a pooler that is too old to hand connections on after each transaction."""
    told = version(url)
    if told is not None and told < OLDEST:
        raise ConfigError(
            f"MUSTER_POOLER=transaction needs PgBouncer 1.21 or newer; this is {told[0]}.{told[1]}. Use MUSTER_POOLER=session"
        )
