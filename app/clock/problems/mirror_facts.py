"""Facts about what was read from the server, and what it no longer has. What they mean: mirror_detectors.py."""

from app.clock.mirror.shortfalls import RUNS
from app.clock.problems.fact_selects import sql_facts

KINDS = ("people_gone", "punches_gone", "slice_incomplete")
_ASKED = """jsonb_typeof(pending) = 'object' AND pending ->> 'refused_by' IS NULL"""
MIRROR = sql_facts(
    KINDS,
    f"""
    SELECT 'people_gone', 'clock_listing', resource, 0,
        CASE WHEN resource = 'employees' THEN (pending ->> 'missing')::bigint ELSE 0 END,
        (pending ->> 'at')::timestamptz, (pending ->> 'missing')::bigint,
        jsonb_build_object('missing', pending -> 'missing', 'known', pending -> 'known', 'listed', pending -> 'listed',
            'run', pending -> 'run_id')
    FROM clock_sync_cursors WHERE kind = 'listing' AND state = 'refused' AND {_ASKED}
    UNION ALL
    SELECT 'punches_gone', 'clock_listing', resource, (pending ->> 'missing')::bigint, 0, (pending ->> 'at')::timestamptz,
        (pending ->> 'missing')::bigint,
        jsonb_build_object('missing', pending -> 'missing', 'known', pending -> 'known', 'run', pending -> 'run_id',
            'first', pending -> 'first', 'last', pending -> 'last')
    FROM clock_sync_cursors WHERE kind = 'gone' AND state = 'refused' AND {_ASKED}
    UNION ALL
    SELECT 'slice_incomplete', 'sync_cursor', "window", (short ->> 'total')::bigint - (short ->> 'came')::bigint, 0, updated_at,
        (short ->> 'total')::bigint - (short ->> 'came')::bigint,
        jsonb_build_object('came', short -> 'came', 'total', short -> 'total', 'first', starts_on, 'last', ends_on)
    FROM (SELECT *, pending -> 'short' AS short FROM clock_sync_cursors WHERE state = 'open' AND pending ? 'short') AS cursor
    WHERE (short ->> 'runs')::int >= {RUNS} AND short ->> 'accepted_by' IS NULL
    """,
)
