"""Who is told of what when: the table of cases."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from app.alerts import timing
from app.alerts.rules import FIRST_ADMINISTRATOR, SILENT, AlertRules, Digest, QuietHours, SeverityRule
from app.alerts.timing import STORM, STORM_WINDOW, TOO_OLD, AlertInTurn, Lately, State, bundled, due_at, fate, sum_at

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
ALL = AlertRules(SeverityRule("at_once", 0), SeverityRule("at_once", 30), SeverityRule("at_once", 30))
DIGESTS = AlertRules(SeverityRule("digest", 0), SeverityRule("digest", 30), SeverityRule("digest", 30))
NIGHT = QuietHours(time(11), time(14), but_critical=True)
STRICT = replace(NIGHT, but_critical=False)


def minutes(number: float) -> datetime:
    return NOW + timedelta(minutes=number)


def alert(severity: str = "warning", opened: float = 0, due: float = 0, **more: Any) -> AlertInTurn:
    return AlertInTurn("silence", severity, minutes(opened), due_at=minutes(due), **more)


@pytest.mark.parametrize(
    ("rules", "waiting", "at"),
    [
        (SILENT, alert("critical"), None),
        (FIRST_ADMINISTRATOR, alert("critical"), 0),
        (FIRST_ADMINISTRATOR, alert("warning"), None),
        (ALL, alert("critical"), 0),
        (ALL, alert("warning"), 30),
        (ALL, alert("info"), 30),
        # Only the rest of its minutes, and at once where they are over.
        (ALL, alert("warning", opened=-10), 20),
        (ALL, alert("warning", opened=-40), 0),
        # A kind by itself, whatever its severity says.
        (replace(ALL, kinds={"silence": "never"}), alert("critical"), None),
        (replace(SILENT, kinds={"silence": "at_once"}), alert("warning"), 30),
        (replace(ALL, kinds={"silence": "digest"}), alert("critical"), 20 * 60),
        (DIGESTS, alert("warning"), 20 * 60),
        # Its minutes are over after the digest of the day: the next one has it.
        (replace(DIGESTS, digest=Digest(hour=12)), alert("critical"), 0),
        (replace(DIGESTS, digest=Digest(hour=12)), alert("warning"), 24 * 60),
        # Quiet hours from 11 to 14.
        (replace(ALL, quiet=NIGHT), alert("critical"), 0),
        (replace(ALL, quiet=STRICT), alert("critical"), 2 * 60),
        (replace(ALL, quiet=NIGHT), alert("warning"), 2 * 60),
        (replace(ALL, quiet=NIGHT), alert("warning", opened=100), 130),
        # Closed before its minutes were over, after them, and after the person was told.
        (ALL, alert("warning", opened=-29, closed_at=NOW), None),
        (ALL, alert("warning", opened=-31, closed_at=NOW), 0),
        (ALL, alert("warning", opened=-3, closed_at=NOW, state="closing"), 0),
        (DIGESTS, alert("warning", opened=-3, closed_at=NOW, state="closing"), 20 * 60),
        (replace(ALL, quiet=NIGHT), alert("warning", opened=-300, closed_at=NOW, state="closing"), 2 * 60),
        (ALL, alert("warning", opened=-300, state="told"), None),
    ],
)
def test_when_a_person_is_told(rules: AlertRules, waiting: AlertInTurn, at: float | None) -> None:
    assert due_at(rules, waiting, NOW) == (None if at is None else minutes(at))


@pytest.mark.parametrize(
    ("rules", "waiting", "becomes"),
    [
        (ALL, alert(opened=-30), ("tell", None)),
        (DIGESTS, alert(opened=-300), ("tell", None)),
        # What was chosen since it was planned.
        (SILENT, alert(opened=-30), ("drop", None)),
        (replace(ALL, kinds={"silence": "never"}), alert(opened=-30), ("drop", None)),
        (replace(ALL, quiet=NIGHT), alert(opened=-30), ("wait", minutes(120))),
        (replace(ALL, quiet=NIGHT), alert("critical", opened=-30), ("tell", None)),
        (replace(DIGESTS, quiet=STRICT), alert(opened=-300), ("tell", None)),
        # What became of the problem since.
        (ALL, alert(opened=-31, closed_at=minutes(-2)), ("drop", None)),
        (ALL, alert(opened=-40, closed_at=minutes(-2)), ("tell", None)),
        (ALL, alert(opened=-40, closed_at=minutes(-2), state="closing"), ("tell", None)),
        (ALL, alert(opened=-40, state="told"), ("drop", None)),
        (ALL, alert(opened=-40, snoozed_until=minutes(5)), ("wait", minutes(5))),
        (ALL, alert(opened=-40, snoozed_until=minutes(-5)), ("tell", None)),
        (ALL, alert(opened=-40, snoozed_until=NOW + timedelta(days=900)), ("wait", minutes(60))),
        (ALL, alert(opened=-40, snoozed_until=minutes(5), closed_at=NOW, state="closing"), ("tell", None)),
        # A worker that was away for a night still tells; what is older than a week does not.
        (ALL, alert(opened=-900, due=-870), ("tell", None)),
        (ALL, replace(alert(opened=-30), due_at=NOW - TOO_OLD), ("tell", None)),
        (ALL, replace(alert(opened=-30), due_at=NOW - TOO_OLD - timedelta(seconds=1)), ("drop", None)),
    ],
)
def test_what_becomes_of_what_is_due(
    rules: AlertRules, waiting: AlertInTurn, becomes: tuple[str, datetime | None]
) -> None:
    assert fate(rules, waiting, NOW) == becomes


@pytest.mark.parametrize(
    ("number", "lately", "becomes"),
    [
        (1, Lately(), ("each", None)),
        (STORM, Lately(), ("each", None)),
        (STORM + 1, Lately(), ("one", None)),
        (10_000, Lately(), ("one", None)),
        (1, Lately(alerts=STORM - 1), ("each", None)),
        (1, Lately(alerts=STORM), ("one", None)),
        (1, Lately(storm_at=minutes(-4)), ("hold", minutes(6))),
        (1, Lately(storm_at=NOW - STORM_WINDOW), ("each", None)),
        (30, Lately(storm_at=NOW - STORM_WINDOW), ("one", None)),
    ],
)
def test_a_storm_becomes_one_mail(number: int, lately: Lately, becomes: tuple[str, datetime | None]) -> None:
    assert bundled(number, lately, NOW) == becomes


@pytest.mark.parametrize(
    ("before", "news", "after", "due"),
    [
        ("over", "opened", "waiting", 30),
        ("waiting", "opened", "waiting", 5),
        ("told", "opened", "told", None),
        # It closed and opened again before anybody was told that it closed.
        ("closing", "opened", "told", None),
        ("waiting", "closed early", "over", None),
        # It lasted; the mail that says so says that it closed, too.
        ("waiting", "closed late", "waiting", 5),
        ("told", "closed early", "closing", 0),
        ("closing", "closed late", "closing", 5),
        ("over", "closed late", "over", None),
    ],
)
def test_news_of_a_problem(before: State, news: str, after: State, due: float | None) -> None:
    waits = before in ("waiting", "closing")
    known = replace(alert(opened=-40, state=before), due_at=minutes(5) if waits else None)
    match news:
        case "opened":
            became = timing.opened(ALL, known, NOW, NOW)
        case "closed early":
            became = timing.closed(ALL, replace(known, closed_at=minutes(-11)), NOW)
        case _:
            became = timing.closed(ALL, replace(known, closed_at=NOW), NOW)
    assert (became.state, became.due_at) == (after, None if due is None else minutes(due))


@pytest.mark.parametrize(
    ("before", "closed_at", "after"),
    [("waiting", None, "told"), ("waiting", NOW, "over"), ("closing", NOW, "over")],
)
def test_a_mail_about_a_problem_left(before: State, closed_at: datetime | None, after: State) -> None:
    became = timing.told(alert(state=before, closed_at=closed_at))
    assert (became.state, became.due_at) == (after, None)


@pytest.mark.parametrize(
    ("before", "planned", "after", "due"),
    [
        ("told", None, "waiting", 0),
        # Its closing was not mailed yet: what comes next says how it stands then.
        ("closing", 7, "waiting", 7),
        ("waiting", 7, "waiting", 7),
        # The mail that it closed is on its way.
        ("over", None, "over", None),
    ],
)
def test_a_mail_that_it_opened_was_dropped(
    before: State, planned: float | None, after: State, due: float | None
) -> None:
    known = replace(alert(state=before), due_at=None if planned is None else minutes(planned))
    became = timing.missed(known, NOW)
    assert (became.state, became.due_at) == (after, None if due is None else minutes(due))


def test_another_choice_ends_what_waits_and_leaves_what_was_told() -> None:
    """So that the closing of what a person knows of is not mailed after they chose no mail,
    and comes where they choose it again."""
    assert timing.planned(SILENT, alert(), NOW).state == "over"
    assert timing.planned(SILENT, alert(state="told"), NOW).state == "told"
    assert timing.planned(SILENT, alert(state="closing", closed_at=NOW), NOW).state == "over"


@pytest.mark.parametrize(("ended", "left"), [("at_once", "never"), ("digest", "at_once")])
def test_what_a_person_ended_by_a_link_is_not_mailed(ended: Any, left: str) -> None:
    rules = replace(ALL, kinds={"silence": "at_once", "overlaps": "digest"}).without(ended)
    assert (rules.critical.pace, rules.kinds["silence"]) == (left, left)
    assert (rules.kinds["overlaps"] == "never") == (ended == "digest")
    assert rules.warning.after == 30


@pytest.mark.parametrize(
    ("rules", "severities", "at"),
    [
        (ALL, ["warning"], 0),
        (replace(ALL, quiet=NIGHT), ["warning", "info"], 120),
        (replace(ALL, quiet=NIGHT), ["warning", "critical"], 0),
        (replace(ALL, quiet=STRICT), ["critical"], 120),
        (replace(DIGESTS, digest=Digest(hour=15)), ["warning"], 180),
        (replace(DIGESTS, digest=Digest(hour=15), critical=ALL.critical, quiet=STRICT), ["warning", "critical"], 120),
    ],
)
def test_a_sum_waits_for_the_first_of_its_kinds_that_may_be_told(
    rules: AlertRules, severities: list[str], at: float
) -> None:
    assert sum_at(rules, [("silence", one) for one in severities], NOW) == minutes(at)
