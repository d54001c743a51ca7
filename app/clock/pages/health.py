"""The health of the connection in one sentence, as the pages of the clock say it."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from app.clock.codes import TcCode
from app.clock.models import Connection
from app.dates import PageZone
from app.web.formats import ago

# Kinds of problems that this sentence already tells.
PROBLEM_KINDS = ("connection_failing", "connection_locked")


@dataclass(frozen=True, slots=True)
class Health:
    """`state` is the connection's status, `tone` one of the components' tones, `code` a TC code or None."""

    state: str
    tone: str
    sentence: str
    code: str | None = None

    @property
    def level(self) -> str:
        """The same as the level of an alert."""
        return {"ok": "success", "info": "info", "warn": "warning", "bad": "danger"}[self.tone]


def of(found: Connection | None, now: datetime) -> Health:
    """One case for each status."""
    if found is None:
        return Health("not_configured", "info", "No time-clock server is connected yet.")
    host = urlsplit(found.base_url).netloc
    success = (
        f"The last success was {ago(found.last_success_at, now)}." if found.last_success_at else "It never worked."
    )
    match found.status:
        case "unverified":
            return Health(
                "unverified", "warn", f"The connection to {host} is saved but not tested yet.{_first_run(found)}"
            )
        case "healthy":
            return Health(
                "healthy", "ok", f"Connected to {host}; the last call worked {ago(found.last_success_at, now)}."
            )
        case "failing":
            what = (found.last_error_message or "It failed").rstrip(".")
            who = "The last run" if found.last_error_code == TcCode.IMPORT else host  # that fault is never the server's
            return Health(
                "failing",
                "bad",
                f"{who} failed {ago(found.last_error_at, now)}: {what}. {success}{_first_run(found)}",
                found.last_error_code,
            )
        case "locked":
            return Health(
                "locked",
                "bad",
                f"The connection to {host} is locked after refused sign-ins{_until(found, now)}.",
                "TC-LOCKED",
            )
        case _:
            return Health("paused", "warn", f"Syncing with {host} is paused: no punches are read until it is resumed.")


def _first_run(found: Connection) -> str:
    return " The first run starts by itself after a good test." if found.awaits_test else ""


def _until(found: Connection, now: datetime) -> str:
    if found.locked_until is None or found.locked_until <= now:
        return "; one more try may be allowed now"
    return f" until {PageZone.at(ZoneInfo(found.timezone), now).clock(found.locked_until)}"
