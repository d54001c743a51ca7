"""How pages name the acts, subjects and changes of the audit, and where they show a subject.

An act or a subject that a later version wrote is shown by its stored name. Each module names its own in
`app/MODULE/module.py`.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import Any
from urllib.parse import quote

from app.accounts.audit import COMMAND_LINE
from app.accounts.erased import ERASED_PERSON, GONE_ACCOUNT
from app.dates import PageZone, local_exact
from app.registry import AuditedField, modules

ACTS = {act: words for module in modules() for act, words in module.acts.items()}
# Who acted, as the filter of the audit names it.
ACTORS = {"person": "A person", "token": "An API token", "command": COMMAND_LINE.name, "system": "Muster itself"}
# Only for values that match as a whole: people's own texts may contain such parts.
_WHEN = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?", re.ASCII)
_DAYS = re.compile(r"(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})", re.ASCII)
# Fields with texts of people. Such a text may look like a day.
_TYPED = frozenset({"id_number", "message", "name", "note", "remarks", "title"})
# The window of a survey.
_IN_UTC = frozenset({"starts_at", "ends_at"})
_PEOPLE = ("user", "employee")
SUBJECTS = {kind: subject for module in modules() for kind, subject in module.subjects.items()}


def act_label(act: str) -> str:
    return ACTS.get(act, act)


def acts_named(text: str) -> list[str]:
    """The acts whose label contains the text in any case, or whose name begins with it."""
    sought = text.casefold()
    return [act for act, label in ACTS.items() if sought in label.casefold() or act.startswith(sought)]


def actor_label(name: str, token: str | None) -> str:
    """`token` is the name of the API token by which the person acted; "" when it must not be shown."""
    if token is None:
        return name
    return f"{name}, by the API token “{token}”" if token else f"{name}, by an API token"


def subject_label(kind: str, subject: str, name: str | None = None, *, erased: bool = False) -> str:
    """`Person “Ada”`, `Record 12 (Ada)`, or `Person 12` without a name; `12 punches` for an act on several. The
    settings of the clock exist once, so they have no number. With `erased` the subject is a person who was erased. An
    account without a name is gone: each account that is here has one."""
    known = SUBJECTS.get(kind)
    label = known.label if known else kind.replace("_", " ").capitalize()
    if _counts(subject, label):
        return subject
    numbered = f"{label} {subject}" if known is None or known.numbered else label
    if erased:
        return ERASED_PERSON if kind in _PEOPLE else f"{numbered} ({ERASED_PERSON})"
    if kind == "user" and not name:
        return f"{GONE_ACCOUNT} {subject}"
    if name and known and known.of_person:
        return f"{numbered} ({name})"
    return f"{label} “{name}”" if name else numbered


def _counts(subject: str, label: str) -> bool:
    """True of `12 punches`, with the label `Punch`."""
    number, _, things = subject.partition(" ")
    return number.isdecimal() and things.startswith(label.casefold())


def subject_named(text: str) -> tuple[str, str]:
    """(kind, id) of `Person 12` and of `employee 12`; the id is empty when only a kind is named."""
    kinds = {kind: kind for kind in SUBJECTS} | {one.label.casefold(): kind for kind, one in SUBJECTS.items()}
    kinds[GONE_ACCOUNT.casefold()] = "user"
    wanted = text.strip()
    for name in sorted(kinds, key=len, reverse=True):
        if (wanted.casefold() + " ").startswith(name + " "):
            return kinds[name], wanted[len(name) :].strip()
    kind, _, subject = wanted.partition(" ")
    return kind.casefold(), subject.strip()


def subject_page(kind: str, subject: str) -> str | None:
    """The address of the page that shows the subject, if there is one. If the subject still exists: subjects.py; who
    may see it: the page."""
    known = SUBJECTS.get(kind)
    if known is None or known.url is None:
        return None
    return known.url if known.alone else known.url + quote(subject, safe="")


def differences(
    kind: str, before: dict[str, Any] | None, after: dict[str, Any] | None, zone: PageZone
) -> list[tuple[str, str | None, str | None]]:
    """(field, before, after) of an act, as ui.diff draws them: fields, instants, days and values in words. None when
    the act stored no such values."""
    was, is_now = before or {}, after or {}
    return [
        (field_of(kind, name).label, _side(kind, was, name, zone), _side(kind, is_now, name, zone))
        for name in _fields(was, is_now)
    ]


def changes_of(kind: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> str:
    """The names of what changed, for a row: `Name, Roles`."""
    return ", ".join(field_of(kind, name).label for name in _fields(before or {}, after or {}))


def field_of(kind: str, name: str) -> AuditedField:
    """A field that a later version wrote is shown by its stored name."""
    known = _audited()
    unknown = AuditedField(_words(name).capitalize())
    return known.get(f"{kind}.{name}") or known.get(name, unknown)


@cache
def _audited() -> Mapping[str, AuditedField]:
    return {name: one for module in modules() for name, one in module.audited().items()}


def _fields(was: dict[str, Any], is_now: dict[str, Any]) -> list[str]:
    return [*was, *(name for name in is_now if name not in was)]


def _side(kind: str, side: dict[str, Any], name: str, zone: PageZone) -> str | None:
    return _shown(field_of(kind, name), name, side[name], zone) if name in side else None


def _shown(known: AuditedField, name: str, value: Any, zone: PageZone) -> str:
    if value is None or value in ("", [], {}):
        return "nothing"
    if isinstance(value, list):
        return _several(known, name, value, zone)
    if isinstance(value, dict):
        parts = {str(key): _shown(known, str(key), one, zone) for key, one in value.items()}
        return "; ".join(f"{known.values.get(key, _words(key))}: {part}" for key, part in parts.items())
    return known.values[value] if value in known.values else _single(known, name, value, zone)


def _single(known: AuditedField, name: str, value: Any, zone: PageZone) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _in_words(name, value, zone) if isinstance(value, str) else f"{value} {known.unit}".rstrip()


def _several(known: AuditedField, name: str, values: list[Any], zone: PageZone) -> str:
    """A break is a pair: from and to."""
    if name == "breaks":
        return ", ".join("–".join(_shown(known, name, end, zone) for end in pair) for pair in values)
    return ", ".join(_shown(known, name, one, zone) for one in values)


def days_in_words(text: str, zone: PageZone) -> str:
    """The id of locked days in words, such as `2026-11-16..2026-11-22`; any other text as it is."""
    days = _DAYS.fullmatch(text)
    return zone.days(date.fromisoformat(days[1]), date.fromisoformat(days[2])) if days else text


def _in_words(name: str, text: str, zone: PageZone) -> str:
    """An instant, a local time or a day in words; any other text as it is."""
    if name in _TYPED or not _WHEN.fullmatch(text):
        return text
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        return text
    if len(text) == len("2026-11-21"):
        return zone.day(value.date())
    if value.tzinfo is None:
        return local_exact(value, zone.today)
    return zone.in_utc(value) if name in _IN_UTC else zone.time_with_seconds(value)


def _words(name: str) -> str:
    return name.replace("_", " ")
