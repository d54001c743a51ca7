"""What happens to each table when a tenant moves: names every shared table and every table of a workspace, in the order
of loading. A test compares it with the models, so that no new table is forgotten."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.alerts import models as alerts  # noqa: F401 - its tables are named below, and nothing else here loads them
from app.alerts import setting  # noqa: F401 - likewise
from app.db.base import Base
from app.long_acts import models as long_acts  # noqa: F401 - its tables are named below, and nothing else here loads them
from app.mail import models as mail  # noqa: F401 - likewise
from app.problems import count_models, models  # noqa: F401 - likewise
from app.webhooks import models as webhooks  # noqa: F401 - likewise


@dataclass(frozen=True, slots=True)
class MovingTable:
    """A table whose rows travel.

    `which` narrows a shared table to the tenant, whose key is `$1`. `refers` says which renumbered table a column
    refers to, so that its ids become the new ones. When the account of a row is gone, `gone` decides: `drop` leaves the
    row behind, `null` removes the id, and `keep` keeps it as a negative one, which no account has, so that the row
    still counts. `sealed` columns travel beside the rows, sealed again; `left` columns stay behind, and get their
    default on arrival. `instead` is SQL that replaces a column on arrival, over the row `s`. Rows travel in the order
    of the column `order`, None for any.
    """

    name: str
    which: str | None = None
    refers: Mapping[str, str] = field(default_factory=dict)
    gone: Literal["null", "drop", "keep"] = "null"
    sealed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)
    order: str | None = None

    @property
    def table(self) -> Any:
        """The table of the models."""
        return Base.metadata.tables[self.name]

    @property
    def is_shared(self) -> bool:
        return self.which is not None

    @property
    def is_staged(self) -> bool:
        """True when rows change on arrival, so that they go into a temporary table first."""
        return self.is_shared or bool(self.refers or self.sealed)

    @property
    def columns(self) -> list[str]:
        """The columns in the file."""
        return [str(one.name) for one in self.table.columns if one.name not in (*self.sealed, *self.left)]

    @property
    def numbers(self) -> str | None:
        """The column that PostgreSQL numbers."""
        return next((str(one.name) for one in self.table.columns if one.identity is not None), None)


def _renumbered(column: str, table: str) -> str:
    return f"(SELECT to_jsonb(r.new_id) FROM moving_{table} r WHERE r.id::text = {column})"


def _noted(column: str) -> str:
    """The id in what an act changed, if it was the account of a person."""
    new = _renumbered(f"s.{column} ->> 'user_id'", "users")
    renumbered = f"jsonb_set(s.{column}, '{{user_id}}', coalesce({new}, 'null'))"
    return f"CASE WHEN jsonb_typeof(s.{column} -> 'user_id') = 'number' THEN {renumbered} ELSE s.{column} END"


def _of_person(column: str) -> str:
    """The query of a saved view with the id of the account in it as it is here. What did not travel is `gone+17`."""
    told = f"substring({column} from '(?:^|&)user=([0-9]+)(?:&|$)')"
    new = f"coalesce({_renumbered(told, 'users')} #>> '{{}}', 'gone+' || {told})"
    return f"coalesce(regexp_replace({column}, '(^|&)user=[0-9]+', '\\1user=' || {new}), {column})"


def _audited(column: str) -> str:
    """What an act changed: the ids in it as they are here."""
    told = f"s.{column} ->> 'query'"
    query = f"jsonb_set(s.{column}, '{{query}}', to_jsonb({_of_person(told)}))"
    return f"CASE WHEN s.subject_type = 'saved_view' AND s.{column} ? 'query' THEN {query} ELSE {_noted(column)} END"


# The ids of subjects that did not travel must not name something else in the new installation: `gone 17`.
_SUBJECT = f"""CASE
    WHEN s.subject_type NOT IN ('user', 'role', 'token', 'job') OR s.subject_id !~ '^[0-9]{{1,18}}$' THEN s.subject_id
    ELSE coalesce(CASE s.subject_type
        WHEN 'user' THEN {_renumbered("s.subject_id", "users")} WHEN 'role' THEN {_renumbered("s.subject_id", "roles")}
        WHEN 'token' THEN {_renumbered("s.subject_id", "api_tokens")}
    END #>> '{{}}', 'gone ' || s.subject_id)
END"""
# When a problem was given to somebody, its note is the id of the account.
_GIVEN_TO = (
    f"CASE WHEN s.what = 'assigned' THEN coalesce({_renumbered('s.note', 'users')} #>> '{{}}', '') ELSE s.note END"
)
_OF_ACCOUNTS = "user_id IN (SELECT id FROM users WHERE workspace = $1)"
_ACCOUNT = {"user_id": "users"}

# These get new ids that other rows refer to, or have values that must be unique in the installation. They are compared
# with what exists before anything is written.
FIRST: tuple[MovingTable, ...] = (
    # Recovery codes are hashed with the id of the account at that time.
    MovingTable(
        "users", "workspace = $1", sealed=("totp_secret",), instead={"recovery_id": "coalesce(s.recovery_id, s.id)"}
    ),
    MovingTable("roles", "workspace = $1"),
    MovingTable("passkeys", _OF_ACCOUNTS, refers=_ACCOUNT, gone="drop"),
    MovingTable("api_tokens", _OF_ACCOUNTS, refers={"user_id": "users", "made_by_id": "users"}),
)
TOKENS = "api_tokens"
SHARED: tuple[MovingTable, ...] = (
    # Two installations must not work for the same tenant: a person activates it once the other one does not.
    MovingTable("tenants", "key = $1", instead={"active": "false"}),
    MovingTable("user_types", "workspace = $1"),
    MovingTable("policies", "workspace = $1"),
    MovingTable("alert_settings", _OF_ACCOUNTS, refers=_ACCOUNT, gone="drop"),
    MovingTable("user_roles", _OF_ACCOUNTS, refers={"user_id": "users", "role_id": "roles"}, gone="drop"),
    MovingTable("mail_refusals", _OF_ACCOUNTS, refers=_ACCOUNT, gone="drop"),
    MovingTable(
        "audit_entries",
        "workspace = $1",
        refers={"actor_id": "users"},
        instead={"subject_id": _SUBJECT, "before": _audited("before"), "after": _audited("after")},
    ),
    # Waiting work begins again from what is stored. A run of the clock does not: `SETTLE` ends it.
    MovingTable(
        "jobs",
        "workspace = $1 AND status IN ('queued', 'running') AND name <> 'clock_sync'",
        left=("status", "attempt", "uncounted", "started_at", "heartbeat_at", "finished_at", "error"),
    ),
    MovingTable("problem_counts", "workspace = $1"),
)
HOST: tuple[MovingTable, ...] = (
    MovingTable("employees", refers=_ACCOUNT),
    MovingTable("kiosk_enrolments"),
    MovingTable("attendance_records"),
    MovingTable("day_locks"),
    MovingTable("day_lock_changes"),
    MovingTable("applications"),
    MovingTable("api_app_ratings", refers=_ACCOUNT, gone="keep"),
    MovingTable("app_rating_counts"),
    MovingTable("saved_views", refers=_ACCOUNT, gone="drop", instead={"query": _of_person("s.query")}),
    MovingTable("problems", refers={"assigned_to": "users"}),
    MovingTable("alerts", refers=_ACCOUNT, gone="drop"),
    MovingTable("alert_news"),
    MovingTable("problem_changes", refers=_ACCOUNT, instead={"note": _GIVEN_TO}),
    MovingTable("problem_sweeps", left=("marks",)),
    MovingTable("webhook_endpoints", sealed=("secret", "secret_before")),
    MovingTable("webhook_facts"),
    MovingTable("webhook_events"),
    MovingTable("webhook_attempts"),
)
CLOCK: tuple[MovingTable, ...] = (
    # A session with the time-clock server belongs to the installation that signed in.
    MovingTable("clock_connections", sealed=("password",), left=("tokens",)),
    MovingTable("clock_settings"),
    MovingTable("clock_departments"),
    MovingTable("clock_positions"),
    MovingTable("clock_areas"),
    MovingTable("clock_locations"),
    MovingTable("clock_devices"),
    MovingTable("clock_employees"),
    MovingTable("clock_employee_bindings"),
    MovingTable("clock_binding_history"),
    MovingTable("clock_transactions"),
    MovingTable("clock_punch_changes"),
    MovingTable("clock_missing_punches"),
    MovingTable("clock_imported_records"),
    MovingTable("clock_rejudgings"),
    MovingTable("clock_zone_changes"),
    MovingTable("clock_owner_changes"),
    MovingTable("clock_owner_change_codes"),
    MovingTable("clock_long_acts", refers={"actor_id": "users"}),
    MovingTable("clock_long_act_items"),
    MovingTable("clock_sync_runs"),
    MovingTable("clock_sync_lease"),
    MovingTable("clock_sync_cursors"),
    MovingTable("clock_set_aside"),
    MovingTable("clock_api_logs"),
    MovingTable("clock_analytics_daily"),
    MovingTable("clock_transaction_counts"),
    MovingTable("clock_person_counts"),
    MovingTable("clock_hour_counts"),
    MovingTable("clock_stale_days"),
)
SURVEYS: tuple[MovingTable, ...] = (
    # Before the ledger, because its triggers note an unknown number as that of an account.
    MovingTable("survey_people", refers=_ACCOUNT),
    MovingTable("survey_wordings"),
    MovingTable("surveys"),
    MovingTable("survey_questions"),
    MovingTable("survey_person_keys", sealed=("sealed_key",)),
    MovingTable("survey_responses"),
    MovingTable("survey_answers"),
    MovingTable("survey_changes"),
    # Ballots travel with their key, in the order of their random ids.
    MovingTable("survey_ballot_keys", sealed=("sealed_key",)),
    MovingTable("survey_ballots", order="id"),
    MovingTable("survey_results", order="id"),
    MovingTable("survey_ledger_head"),
    MovingTable("survey_tombstones"),
    # `shown_in` is the number of a session, and sessions stay behind.
    MovingTable("survey_prompt_state", refers=_ACCOUNT, gone="keep", left=("shown_in",)),
    MovingTable("survey_languages_shown"),
    MovingTable("survey_tallies"),
    MovingTable("survey_rounds"),
    MovingTable("survey_invitations", refers=_ACCOUNT, gone="drop"),
    MovingTable("survey_tally_mark"),
)
WORKSPACE = HOST + CLOCK + SURVEYS
TRAVELLING = FIRST + SHARED + WORKSPACE

# Tables whose rows stay behind, and why.
STAYING: Mapping[str, str] = {
    "sessions": "Everybody signs in again.",
    "passkey_challenges": "They are valid for minutes.",
    "one_time_links": "They lead to the other installation. An administrator makes new ones.",
    "outgoing_mails": "The other installation sends them while the tenant is active there; links in them lead there.",
    "backup_watch": "It is about the backups of the installation.",
    "mail_streak": "It is about the mail server of the installation.",
    "request_budgets": "What an API token has used of its limit counts for minutes.",
    "clock_sign_ins": "A session of the time-clock server is of the installation that signed in.",
    "survey_numbers": "They are counted again when somebody asks for them.",
    "survey_splits": "They are counted again when somebody asks for them.",
    "workspace_looks": "The schedule looks into the tenant at its next tick.",
    "clock_waiting_counts": "The rows of weeks that arrive are counted into it.",
    "worker_heartbeats": "They are of the installation.",
}

# How COPY writes days and times, for any settings of the server.
FORMATS = "SET LOCAL datestyle TO 'ISO, YMD'; SET LOCAL intervalstyle TO 'postgres'; SET LOCAL timezone TO 'UTC'"
_OVER_SHARED = "split_part(kind, '.', 1) IN ('users', 'tokens', 'jobs')"
# What was current in the old installation ends here; the next run continues from the cursors.
SETTLE: tuple[str, ...] = (
    "UPDATE clock_sync_lease SET fence = fence + 1, run_id = NULL, expires_at = NULL",
    (
        "UPDATE clock_sync_runs SET status = 'truncated', finished_at = now(), error_code = 'TC-TRUNCATED',"
        " error_message = 'The tenant was moved during this run. The next run continues.' WHERE status IN ('queued', 'running')"
    ),
    # Acts over shared tables have ids of the old installation, which may be accounts of another tenant here.
    (
        "UPDATE clock_long_acts SET finished_at = now(), problem = 'The tenant was moved during this act.'"
        f" WHERE finished_at IS NULL AND {_OVER_SHARED}"
    ),
    # Without its person such a view would show another list than its name says.
    "DELETE FROM saved_views WHERE query ~ '(^|&)user=gone\\+'",
    # The other installation sends them, too.
    "UPDATE webhook_events SET asked = false WHERE asked AND status = 'waiting'",
    f"DELETE FROM clock_long_act_items WHERE act_id IN (SELECT id FROM clock_long_acts WHERE {_OVER_SHARED})",
)
# The old installation sends until somebody ends it there.
SWITCH_OFF_WEBHOOKS = (
    "UPDATE webhook_endpoints SET active = false, off_reason = 'The tenant was moved here, and the other installation may still send to this"
    " address.' WHERE active"
)
