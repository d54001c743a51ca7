"""Facts about terminals. What they mean: terminal_detectors.py."""

from app.clock.figures.terminal_backlog import MIRRORED_SQL
from app.clock.mirror.key_uses import COUNTED, DIRECTION, KIND, USE
from app.clock.problems.fact_selects import NEWEST_PUNCH, SINCE, TERMINAL_NAMES, setting, sql_facts

KINDS = (
    "terminal_offline",
    "silent_terminal",
    "terminal_skew",
    "terminal_backlog",
    "no_direction",
    "one_key",
    "access_terminal_used",
)
_SUBJECT = "'terminal', sn, 0, 0"
_NAMED = "jsonb_build_object('name', name, 'terminal', sn, 'zone', timezone)"
_SPEAKS = f"jsonb_build_object('hours', {setting('silence_hours')}, 'last_of_clock', (SELECT at FROM newest))"
_ALL_READ = """(SELECT status = 'succeeded' FROM clock_sync_runs WHERE status NOT IN ('queued', 'running')
        ORDER BY id DESC LIMIT 1)"""
TERMINALS = sql_facts(
    KINDS,
    f"""
    WITH newest AS MATERIALIZED ({NEWEST_PUNCH}), d AS (
        SELECT d.sn, called.name, d.state, d.last_activity_at, d.last_punch_at_utc,
            d.remote_attendance, d.kind_mark, d.terminal_tz, d.clock_skew_seconds, d.transaction_count, c.timezone,
            {KIND} AS kind, {DIRECTION} AS direction,
            coalesce((SELECT (value #>> '{{}}')::date FROM clock_settings WHERE name = 'history_start'),
                c.created_at::date - 90) AS history_start
        FROM clock_devices d JOIN ({TERMINAL_NAMES}) AS called ON called.sn = d.sn CROSS JOIN clock_connections c WHERE d.absent_since IS NULL
    ), undirected AS (
        SELECT terminal_sn AS sn, count(*) AS punches, count(DISTINCT emp_code) AS people, min(punched_at_utc) AS since,
            max(id) AS newest
        FROM clock_transactions
        WHERE import_outcome = 'no_direction' AND settled_at_utc IS NULL AND gone_at_utc IS NULL AND local_date >= {SINCE}
        GROUP BY terminal_sn
    )
    SELECT 'terminal_offline', {_SUBJECT}, last_activity_at, 0, {_NAMED} FROM d WHERE state = 'offline' AND kind = 'attendance'
    UNION ALL
    SELECT 'silent_terminal', {_SUBJECT}, last_punch_at_utc, 0,
        {_NAMED} || {_SPEAKS}
    FROM d WHERE state <> 'offline' AND last_punch_at_utc IS NOT NULL
    UNION ALL
    SELECT 'terminal_skew', {_SUBJECT}, NULL, 0, {_NAMED} || jsonb_build_object(
        'seconds', clock_skew_seconds, 'warn_seconds', {setting("skew_warn_seconds")}, 'terminal_tz', terminal_tz)
    FROM d WHERE clock_skew_seconds IS NOT NULL
    UNION ALL
    SELECT 'terminal_backlog', 'terminal', sn, there - mirrored, 0, NULL, there - mirrored,
        {_NAMED} || {_SPEAKS} || jsonb_build_object('first_day', first_day, 'history_start', history_start)
    FROM d CROSS JOIN LATERAL (SELECT d.transaction_count AS there, ({MIRRORED_SQL}) AS mirrored, (
        SELECT min(local_date) FROM clock_analytics_daily WHERE dimension = 'terminal' AND key = d.sn) AS first_day) AS held
    WHERE there > mirrored AND {_ALL_READ}
    UNION ALL
    SELECT 'no_direction', 'terminal', coalesce(u.sn, ''), u.punches, u.people, u.since, u.newest,
        jsonb_build_object('name', coalesce(d.name, u.sn), 'terminal', u.sn, 'listed', d.sn IS NOT NULL, 'counts', EXISTS (
            SELECT FROM clock_analytics_daily WHERE dimension = 'terminal' AND key = u.sn AND local_date >= {SINCE} AND imported > 0))
    FROM undirected u LEFT JOIN d ON d.sn = u.sn
    UNION ALL
    SELECT 'one_key', 'terminal', d.sn, single, 0, NULL, 0, {_NAMED} || jsonb_build_object('uses', {USE})
    FROM d {COUNTED}
    WHERE kind = 'attendance' AND direction = 'by_code' AND punches > 2 * recorded AND single > 0
    UNION ALL
    SELECT 'access_terminal_used', 'terminal', sn, used.punches, 0, NULL, 0, {_NAMED}
    FROM d CROSS JOIN LATERAL (SELECT sum(total - imported) AS punches FROM clock_analytics_daily
        WHERE dimension = 'terminal' AND key = d.sn AND local_date >= {SINCE}) AS used
    WHERE remote_attendance IS FALSE AND kind_mark IS NULL AND used.punches > 0
    """,
)
