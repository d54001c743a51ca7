"""Facts about the connection and its runs. What they mean: connection_detectors.py."""

from app.clock.problems.fact_selects import NEWEST_PUNCH, setting, sql_facts

KINDS = ("connection_failing", "connection_locked", "sync_overdue", "silence", "server_restored", "rows_set_aside")
# A run that a person or its budget ended counts as working.
# A run whose worker died, or that the server refused, does not.
_GOOD = "(status IN ('succeeded', 'partial') OR (status = 'truncated' AND error_code = 'TC-TRUNCATED' AND calls > 0))"
_SUBJECT = "'clock_connection', '1', 0, 0"
CONNECTION = sql_facts(
    KINDS,
    f"""
    WITH c AS (
        SELECT status, timezone, last_error_code, last_error_message, locked_until, not_before, awaits_test, id_generation,
            last_success_at, updated_at, split_part(split_part(base_url, '://', 2), '/', 1) AS host
        FROM clock_connections
    ), last AS (
        SELECT id, findings -> 'restored' AS restored,
            (SELECT coalesce(sum((one.value ->> 'set_aside')::bigint), 0) FROM jsonb_each(resources) AS one) AS set_aside
        FROM clock_sync_runs WHERE status NOT IN ('queued', 'running') ORDER BY id DESC LIMIT 1
    ), aside AS (
        SELECT sum((pending #>> '{{aside,rows}}')::bigint) AS rows, max((pending #>> '{{aside,run_id}}')::bigint) AS run_id
        FROM clock_sync_cursors WHERE resource = 'transactions' AND pending ? 'aside'
    )
    SELECT 'connection_failing', {_SUBJECT}, CAST(NULL AS timestamptz), 0,
        jsonb_build_object('host', host, 'code', last_error_code, 'message', last_error_message)
    FROM c WHERE status = 'failing' AND NOT EXISTS (SELECT FROM last WHERE restored = to_jsonb(c.id_generation))
    UNION ALL
    SELECT 'connection_locked', {_SUBJECT}, NULL, 0, jsonb_build_object('host', host, 'until', locked_until, 'zone', timezone)
    FROM c WHERE status = 'locked'
    UNION ALL
    SELECT 'sync_overdue', {_SUBJECT}, good.at, 0, jsonb_build_object(
        'minutes', {setting("sync_interval_minutes")}, 'budget_seconds', {setting("run_budget_seconds")},
        'changed', updated_at, 'not_before', not_before, 'zone', timezone,
        'began', (SELECT max(started_at) FROM clock_sync_runs WHERE status = 'running'))
    FROM c LEFT JOIN LATERAL (
        SELECT finished_at AS at FROM clock_sync_runs WHERE {_GOOD} ORDER BY id DESC LIMIT 1) AS good ON true
    WHERE status NOT IN ('paused', 'locked', 'failing') AND NOT awaits_test
    UNION ALL
    SELECT 'silence', {_SUBJECT}, newest.at, 0,
        jsonb_build_object('hours', {setting("silence_hours")}, 'zone', timezone, 'last', newest.at)
    FROM c LEFT JOIN ({NEWEST_PUNCH}) AS newest ON true
    WHERE status = 'healthy' AND last_success_at IS NOT NULL
    UNION ALL
    SELECT 'server_restored', {_SUBJECT}, NULL, 0, jsonb_build_object('host', host)
    FROM c JOIN last ON restored = to_jsonb(c.id_generation)
    UNION ALL
    SELECT 'rows_set_aside', {_SUBJECT}, NULL, rows, jsonb_build_object('rows', rows, 'run', run_id)
    FROM (SELECT CASE WHEN last.set_aside > 0 THEN last.set_aside ELSE aside.rows END AS rows,
            CASE WHEN last.set_aside > 0 THEN last.id ELSE aside.run_id END AS run_id
        FROM c CROSS JOIN aside LEFT JOIN last ON true) AS found
    WHERE rows > 0
    """,
)
