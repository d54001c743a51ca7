"""What one person wants to be told of, and when: the choices of *Account → Notifications*. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import time, timedelta
from typing import Final, Literal, get_args

Pace = Literal["never", "at_once", "digest"]
Rhythm = Literal["daily", "weekly"]
PACES: Final[tuple[Pace, ...]] = get_args(Pace)
SEVERITIES: Final = ("critical", "warning", "info")
# Minutes for which a problem must stay open before a person hears of it.
AFTER_CRITICAL, AFTER_OTHERS, LONGEST_AFTER = 0, 30, 24 * 60
DIGEST_HOUR: Final = 8


@dataclass(frozen=True, slots=True)
class SeverityRule:
    """`after` is in minutes."""

    pace: Pace
    after: int


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Wall-clock times of the person's zone, `starts` included. When `ends` is earlier, they last past midnight.
    `but_critical`: critical problems are told even then."""

    starts: time
    ends: time
    but_critical: bool = True


@dataclass(frozen=True, slots=True)
class Digest:
    """`weekday` counts from Monday as 0, and matters only for a weekly digest. `hour` is in the person's zone."""

    rhythm: Rhythm = "daily"
    weekday: int = 0
    hour: int = DIGEST_HOUR


@dataclass(frozen=True, slots=True)
class AlertRules:
    """`kinds` names the pace of single kinds of problems; the others follow their severity. `zone` is an IANA name."""

    critical: SeverityRule
    warning: SeverityRule
    info: SeverityRule
    kinds: Mapping[str, Pace] = field(default_factory=dict)
    digest: Digest = field(default_factory=Digest)
    quiet: QuietHours | None = None
    zone: str = "UTC"

    def pace_of(self, kind: str, severity: str) -> Pace:
        return self.kinds.get(kind) or self._of(severity).pace

    def after(self, severity: str) -> timedelta:
        return timedelta(minutes=self._of(severity).after)

    def without(self, pace: Pace) -> "AlertRules":
        """The rules without mails of that pace: the person has ended such mails."""
        critical, warning, info = (
            SeverityRule("never", rule.after) if rule.pace == pace else rule
            for rule in (self.critical, self.warning, self.info)
        )
        kinds: dict[str, Pace] = {kind: "never" if wanted == pace else wanted for kind, wanted in self.kinds.items()}
        return replace(self, critical=critical, warning=warning, info=info, kinds=kinds)

    @property
    def tells_something(self) -> bool:
        """False for a person who wants no alert at all."""
        paces = {self.critical.pace, self.warning.pace, self.info.pace, *self.kinds.values()}
        return paces != {"never"}

    def _of(self, severity: str) -> SeverityRule:
        return {"critical": self.critical, "warning": self.warning}.get(severity, self.info)


SILENT: Final = AlertRules(
    SeverityRule("never", AFTER_CRITICAL), SeverityRule("never", AFTER_OTHERS), SeverityRule("never", AFTER_OTHERS)
)
# Holds until they choose. Somebody must hear that no worker runs, and one mailbox is enough for that.
FIRST_ADMINISTRATOR: Final = AlertRules(SeverityRule("at_once", AFTER_CRITICAL), SILENT.warning, SILENT.info)
