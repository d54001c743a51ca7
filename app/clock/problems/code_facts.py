"""Facts about codes whose punches wait because no employee stands behind them, and about departments of such codes.
What they mean: code_detectors.py. `left` has those inactive or deleted employees whose ID number a code is that was not
found.

When most people of a department wait, one problem of the department stands for all of them, because one act helps. When
this holds for several departments and no person of the clock is linked, one problem stands for all. A conflict, and a
code that is disabled on the server, are matters of their own.
"""

from app.clock.codes import LINKED_STATES, BindingState
from app.clock.figures.thresholds import FEWEST
from app.clock.problems.fact_selects import sql_facts
from app.clock.punches.waiting_counts import WAITING

STATES = ("conflict", "not_found", "unbound", "suggested")
KINDS = (*STATES, "code_disabled", "department_unbound")


# As app.clock.bindings.directory.number_key has it, of a number that is trimmed and in small letters.
_IGNORES_ZEROS = (
    """coalesce((SELECT (value #>> '{}')::boolean FROM clock_settings WHERE name = 'ignore_leading_zeros'), false)"""
)


def _key(number: str) -> str:
    bare = f"coalesce(nullif(ltrim({number}, '0'), ''), right({number}, 1))"
    return f"CASE WHEN {_IGNORES_ZEROS} THEN {bare} ELSE {number} END"


def _among(*states: str) -> str:
    return f"IN ({', '.join(repr(str(one)) for one in sorted(states))})"


_LOOSE = _among(BindingState.NOT_FOUND, BindingState.UNBOUND, BindingState.SUGGESTED)
_HOLDING = _among(*STATES, BindingState.DISABLED)
_LEFT_OUT = _among(BindingState.IGNORED, BindingState.DISABLED, BindingState.MISSING_REMOTE)
_LINKED = _among(*LINKED_STATES)
CODES = sql_facts(
    KINDS,
    f"""
    WITH waiting AS MATERIALIZED ({WAITING}
    ), people AS MATERIALIZED (
        SELECT e.id, e.emp_code, e.full_name, e.department_code, b.state, b.candidates, b.updated_at, w.punches,
            e.absent_since IS NULL AND b.state NOT {_LEFT_OUT} AS counts,
            e.absent_since IS NULL AND b.state {_LOOSE} AND w.punches > 0 AS loose
        FROM clock_employees e JOIN clock_employee_bindings b ON b.clock_employee_id = e.id
        LEFT JOIN waiting w ON w.emp_code = e.emp_code
    ), parts AS MATERIALIZED (
        SELECT department_code, count(*) FILTER (WHERE loose) AS people, sum(punches) FILTER (WHERE loose) AS punches,
            min(updated_at) FILTER (WHERE loose) AS since
        FROM people WHERE counts AND department_code IS NOT NULL GROUP BY department_code
        HAVING count(*) FILTER (WHERE loose) > 1 AND 2 * count(*) FILTER (WHERE loose) > count(*)
            AND sum(punches) FILTER (WHERE loose) >= {FEWEST}
    ), whole AS MATERIALIZED (
        SELECT count(*) FILTER (WHERE loose) AS people, sum(punches) FILTER (WHERE loose) AS punches,
            min(updated_at) FILTER (WHERE loose) AS since
        FROM people WHERE counts
        HAVING count(*) FILTER (WHERE state {_LINKED}) = 0 AND (SELECT count(*) FROM parts) > 1
    ), leavers AS MATERIALIZED (
        SELECT {_key("id_number_key")} AS key, jsonb_agg(jsonb_build_object(
            'id', id, 'name', name, 'deleted', deleted_at IS NOT NULL) ORDER BY id) AS people
        FROM employees WHERE (NOT active OR deleted_at IS NOT NULL) AND {_key("id_number_key")} IN (
            SELECT {_key("lower(btrim(emp_code))")} FROM people WHERE state = '{BindingState.NOT_FOUND}' AND punches > 0)
        GROUP BY 1
    )
    SELECT 'department_unbound', 'departments', p.department_code, p.punches, p.people, p.since, p.punches,
        jsonb_build_object('name', coalesce(d.name, p.department_code), 'department', coalesce(d.name, p.department_code))
    FROM parts p LEFT JOIN clock_departments d ON d.code = p.department_code WHERE NOT EXISTS (SELECT FROM whole)
    UNION ALL
    SELECT 'department_unbound', 'departments', '', punches, people, since, punches, '{{}}' FROM whole
    UNION ALL
    SELECT CASE p.state WHEN 'disabled' THEN 'code_disabled' ELSE p.state END, 'clock_binding', p.emp_code, p.punches, 1,
        p.updated_at, p.punches, jsonb_build_object('name', nullif(p.full_name, ''), 'code', p.emp_code, 'person', p.id,
            'department', coalesce(d.name, p.department_code),
            'candidates', jsonb_path_query_array(p.candidates, '$[0 to 2].name'))
            || CASE WHEN p.state = '{BindingState.SUGGESTED}' THEN jsonb_build_object(
                'suggested', p.candidates #> '{{0,host_employee_id}}') ELSE '{{}}' END
            || CASE WHEN l.key IS NULL THEN '{{}}' ELSE jsonb_build_object('left', jsonb_path_query_array(l.people, '$[0 to 2]')) END
    FROM people p LEFT JOIN clock_departments d ON d.code = p.department_code
    LEFT JOIN leavers l ON p.state = '{BindingState.NOT_FOUND}' AND l.key = {_key("lower(btrim(p.emp_code))")}
    WHERE p.punches > 0 AND p.state {_HOLDING} AND NOT (p.loose AND (EXISTS (SELECT FROM whole)
        OR p.department_code IN (SELECT department_code FROM parts)))
    """,
    few=False,
)
