"""Every way in which the server can misbehave, by name; how one is asked for, and when it strikes. Not what it does.

A fault is written `name`, `name=value`, and may end in `,after=N` (the first N calls it could have struck pass),
`,times=N` (then it strikes N calls and no more) and `,at=RESOURCE` (only there; several joined by `+`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from app.simulator.profiles import OTHER_CALLS, RESOURCES

EVERYWHERE = frozenset((*RESOURCES, *OTHER_CALLS))
DATA = frozenset(RESOURCES)
LISTS = DATA - {"transactions", "schedules"}
PEOPLE = frozenset({"employees"})
PUNCHES = frozenset({"transactions"})
PAGED = DATA - {"schedules"}
SIGN_IN = frozenset({"sign_in"})
TOKENS = frozenset({"sign_in", "refresh"})


class Kind(NamedTuple):
    """What a fault does, in one line; the calls it strikes unless told otherwise; its value unless given."""

    description: str
    at: frozenset[str]
    value: str = ""


KINDS: dict[str, Kind] = {
    # paging and selection
    "page_cap_50": Kind("a page holds at most 50 rows (or =N), whatever is asked", PAGED, "50"),
    "unstable_paging": Kind("pages overlap and leave gaps; two walks in a row are complete together", PAGED, "7"),
    "inserts_while_paging": Kind("each further page inserts one punch (=N) at the front of the list", PUNCHES, "1"),
    "newest_first": Kind("punches are listed newest first: each one that arrives shifts every page", PUNCHES),
    "page_repeats": Kind("every page after the first repeats the first", PAGED),
    "page_beyond_404": Kind("a page after the last is 404 instead of empty", PAGED),
    "page_size_ignored": Kind("only `limit` counts, `page_size` is ignored", PAGED),
    "total_off": Kind("the total says one (=N) more than there is", PAGED, "1"),
    "filter_utc": Kind("start_time and end_time are read as UTC", PUNCHES),
    "bounds_excluded": Kind("a punch exactly at start_time or end_time is left out", PUNCHES),
    "filter_ignored": Kind("start_time and end_time are ignored: everything is in every window", PUNCHES),
    "next_internal": Kind("`next` names a host inside the vendor's network", PAGED),
    "next_null": Kind('`next` is always the string "null"', PAGED),
    "empty_list": Kind("a success with no rows and total 0", LISTS),
    "half_list": Kind("a success with half of the rows and half the total", LISTS),
    "resigned_leave": Kind("three people (or =N) are gone from the employees", PEOPLE, "3"),
    "silent_feed": Kind("no punch shows up that arrived after this was switched on, less =HOURS", PUNCHES, "0"),
    # punches and clocks
    "late_upload": Kind("a terminal that was offline uploads 20 (=N) punches of two to nine days ago", PUNCHES, "20"),
    "lower_ids": Kind("12 (=N) new punches arrive under ids lower than any before", PUNCHES, "12"),
    "double_rows": Kind("40 (=N) recent punches are there twice, under two ids", PUNCHES, "40"),
    "clock_fast_34m": Kind("the first terminal's (=SERIAL) clock is 34 minutes fast", PUNCHES),
    "clock_off_17h": Kind("the first terminal's (=SERIAL) clock is 17 hours slow", PUNCHES),
    "clock_wrong_year": Kind("the first terminal's (=SERIAL) clock is a year fast", PUNCHES),
    "ids_restart": Kind("the database was restored: the same ids mean other punches", PUNCHES),
    # how rows are written
    "leading_zeros": Kind("employee codes are padded to nine digits (=WIDTH) with zeros", DATA, "9"),
    "trailing_space_dates": Kind('dates end in a space: "2025-01-31 "', DATA),
    "us_dates": Kind("dates are MM/DD/YYYY", DATA),
    "iso_offset_dates": Kind("times are ISO with an offset: 2025-01-31T08:00:00-0400", DATA),
    "text_verify": Kind("verify_type is a string", PUNCHES),
    "door_punches": Kind("every third punch (=N) says is_attendance: false", PUNCHES, "3"),
    "no_display": Kind("punch_state_display is null", PUNCHES),
    "parent_ids": Kind("departments, positions and areas name their parent by its id alone", DATA),
    "visible_palms": Kind("palms are enrolled as `vl_palm`, as terminals with a camera do", PEOPLE),
    "ninth_generation": Kind("9.x: attemployee.enable_attendance, no password hash, only `limit` counts", DATA),
    "results_envelope": Kind("the rows are under `results`", PAGED),
    # signing in and tokens
    "signin_400": Kind("sign-in answers a bare 400, as multi-tenant builds do to a body without `company`", SIGN_IN),
    "signin_401": Kind("sign-in answers 401", SIGN_IN),
    "signin_403": Kind("sign-in answers 403", SIGN_IN),
    "signin_code": Kind("sign-in answers 200 with the body code ZBSY0005 (or =CODE)", SIGN_IN, "ZBSY0005"),
    "signin_no_token": Kind("sign-in succeeds and gives no token", SIGN_IN),
    "token_name": Kind("the token is called access_token (or =NAME)", TOKENS, "access_token"),
    "expires_in": Kind("tokens live 2 (or =N) seconds, and say so", TOKENS, "2"),
    "no_expires_in": Kind("the reply does not say how long a token lives; only the JWT itself does", TOKENS),
    "opaque_token": Kind("tokens are no JWTs and nothing says how long they live", TOKENS),
    "token_dies": Kind("an access token dies after 3 (or =N) data calls; renewing it helps", DATA, "3"),
    "token_refused": Kind("every token is refused, however new", DATA),
    "parallel_signin": Kind("somebody else signs in with this account after 3 (or =N) data calls", DATA, "3"),
    "refresh_refused": Kind("no token is ever renewed", frozenset({"refresh"})),
    "auth_401_as_500": Kind("what should be a 401 is a 500", EVERYWHERE),
    "expired_as_500": Kind("what should be a 401 is a 500 that names an expired token", EVERYWHERE),
    "body_401": Kind("200 with the unauthenticated code in the body", DATA),
    # refusals
    "http_500": Kind("500; with =N the first N calls only", DATA),
    "http_400": Kind("400 without explanation", DATA),
    "http_503_retry_after": Kind("503 with Retry-After: 60 (or =VALUE)", DATA, "60"),
    "http_429": Kind("429 with Retry-After: 30 (or =VALUE; =none for no header)", DATA, "30"),
    "body_code_failure": Kind("200 with the body code ZBSY0099 (or =CODE)", DATA, "ZBSY0099"),
    "licence_403": Kind("403: the licence has run out", DATA),
    "nginx_405": Kind("405 in nginx's own HTML", DATA),
    "redirect": Kind("302 to /elsewhere/ (or =ADDRESS)", EVERYWHERE, "/elsewhere/"),
    "html_200": Kind("an HTML sign-in page with 200", DATA),
    "spa_shell": Kind("the shell of a single-page application with 200", DATA),
    "http_204": Kind("204, no content", DATA),
    "slow": Kind("every answer takes 5 (or =SECONDS) longer", EVERYWHERE, "5"),
    # bodies that are not what they should be
    "not_json": Kind("plain words declared as JSON", DATA),
    "wrong_content_type": Kind("good JSON declared as text/plain", DATA),
    "nan": Kind("a NaN in the first row", DATA),
    "duplicate_keys": Kind("the code is there twice in the envelope", DATA),
    "invalid_utf8": Kind("bytes that are no UTF-8", DATA),
    "lone_surrogate": Kind("half a surrogate pair in the first row", DATA),
    "missing_list": Kind("a success without the list", DATA),
    "wrong_types": Kind("the list is an object and the total a word", DATA),
    "bad_row": Kind("the first row of a page is unusable: its time, or =code, or =shape", DATA, "time"),
    "deep_json": Kind("a list nested 200 (or =N) deep in the envelope", DATA, "200"),
    "gzip_bomb": Kind("300 (or =N) MB of spaces in a few hundred kB of gzip", DATA, "300"),
    "oversize": Kind("a body of 64 (or =N) MB", DATA, "64"),
    # broken transport
    "drip": Kind("the body comes byte by byte, a tenth of a second (=SECONDS) each", DATA, "0.1"),
    "reset": Kind("the connection is reset", DATA),
    "cut_body": Kind("the connection closes in the middle of the body", DATA),
    "cut_chunks": Kind("a chunked body ends without its last chunk", DATA),
    "broken_chunking": Kind("a chunk's length is no number", DATA),
    "cut_gzip": Kind("a gzip stream ends in the middle", DATA),
    "broken_gzip": Kind("the body claims to be gzip and is not", DATA),
}

FAULTS: dict[str, str] = {name: kind.description for name, kind in KINDS.items()}
"""Every fault in one line."""

EXTRA = re.compile(r",(after|times|at)=([\w+]+)$")


class UnknownFault(ValueError):
    """The text names no fault, or asks for it in a way that cannot be read."""


@dataclass(slots=True)
class Fault:
    """One fault that is switched on. `seen` counts the calls it could have struck."""

    name: str
    value: str
    at: frozenset[str]
    after: int = 0
    times: int | None = None
    written: str = ""
    seen: int = 0

    def number(self) -> int:
        """The value as a number."""
        return int(self.value)

    def strikes(self, resource: str) -> bool:
        """True when it strikes this call; counts the call."""
        if resource not in self.at:
            return False
        self.seen += 1
        return self.seen > self.after and (self.times is None or self.seen <= self.after + self.times)


@dataclass(slots=True)
class Faults:
    """All faults that are switched on, one of each name."""

    active: dict[str, Fault] = field(default_factory=dict)

    def strike(self, resource: str) -> dict[str, Fault]:
        """The faults that strike this call, by name. Ask once a call: it counts."""
        return {name: fault for name, fault in self.active.items() if fault.strikes(resource)}

    def written(self) -> list[str]:
        """What is switched on, as it was asked for."""
        return [fault.written for fault in self.active.values()]


def read_faults(texts: Iterable[str]) -> Faults:
    """Raises UnknownFault. A name given twice counts as given last."""
    return Faults({fault.name: fault for fault in map(read_fault, texts)})


def read_fault(text: str) -> Fault:
    """One fault as a person writes it; raises UnknownFault."""
    rest, extras = _split(text)
    name, _, value = rest.partition("=")
    kind = KINDS.get(name)
    if kind is None:
        raise UnknownFault(f"there is no fault {name!r}")
    fault = Fault(name, value or kind.value, kind.at, written=text)
    _check_value(fault, kind)
    fault.after = _count(extras.get("after", "0"), name)
    if "times" in extras:
        fault.times = _count(extras["times"], name)
    if name == "http_500" and value:
        fault.times = _count(value, name)
    if "at" in extras:
        fault.at = _places(extras["at"])
    return fault


WORDY = frozenset({"http_429", "http_503_retry_after"})
"""Faults whose value may be any word, though usually it is a number."""
FRACTIONAL = frozenset({"slow", "drip", "silent_feed"})
BAD_ROWS = frozenset({"time", "code", "shape"})


def _check_value(fault: Fault, kind: Kind) -> None:
    if fault.name in FRACTIONAL:
        if not re.fullmatch(r"\d+(\.\d+)?", fault.value):
            raise UnknownFault(f"{fault.name} needs a number, not {fault.value!r}")
    elif kind.value.isdecimal() and fault.name not in WORDY:
        _count(fault.value, fault.name)
    elif fault.name == "bad_row" and fault.value not in BAD_ROWS:
        raise UnknownFault(f"bad_row is one of {', '.join(sorted(BAD_ROWS))}, not {fault.value!r}")


def _split(text: str) -> tuple[str, dict[str, str]]:
    extras: dict[str, str] = {}
    while found := EXTRA.search(text):
        extras[found[1]] = found[2]
        text = text[: found.start()]
    return text.strip(), extras


def _count(text: str, name: str) -> int:
    if not text.isdecimal():
        raise UnknownFault(f"{name} needs a whole number, not {text!r}")
    return int(text)


def _places(text: str) -> frozenset[str]:
    places = frozenset(text.split("+"))
    if not places <= EVERYWHERE:
        raise UnknownFault(f"there is no resource {', '.join(sorted(places - EVERYWHERE))}")
    return places
