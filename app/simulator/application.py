"""The server itself: routes, sign-in, what a call must carry, and the order in which faults have their way.

Rows, pages and breakages are made elsewhere; here they are only put in their order.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from app.simulator import breakage, control, envelopes, listing, photos, selection, upheavals
from app.simulator.calls import Answer, Call, Receive, Scope, Send, read_call, send_answer
from app.simulator.envelopes import Page
from app.simulator.faults import Fault, Faults, read_faults
from app.simulator.profiles import PHOTO_PATHS, PROFILES, REFUSED_PATHS, Profile
from app.simulator.rows import Habits, Rows, number_of
from app.simulator.sessions import Sessions
from app.simulator.stamps import Stamps, StampStyle
from app.simulator.wire import send_broken
from app.simulator.world import World

USERNAME, PASSWORD = "clock", "clock-demo"
CALLS_KEPT, RENDERERS_KEPT = 500, 16
DATE_STYLES: dict[str, StampStyle] = {
    "trailing_space_dates": "trailing_space", "us_dates": "us", "iso_offset_dates": "iso_offset",
}  # fmt: skip
Struck = dict[str, Fault]


@dataclass(frozen=True, slots=True)
class Noted:
    """One call as the watch page shows it: instant (real, epoch seconds), what was asked, what came of it."""

    at: float
    method: str
    path: str
    query: dict[str, str]
    resource: str
    status: int
    size: int
    took_ms: float
    struck: tuple[str, ...]
    headers: dict[str, str] = field(repr=False)


class Simulator:
    """An ASGI application. `world_clock` gives the world's instant (epoch seconds); without it time stands still."""

    def __init__(
        self,
        world: World,
        profile: Profile,
        faults: Sequence[str],
        sessions: Sessions,
        world_clock: Callable[[], float] | None,
    ) -> None:
        self.world, self.profile = world, profile
        self.sessions, self.world_clock = sessions, world_clock
        self.calls: deque[Noted] = deque(maxlen=CALLS_KEPT)
        self.call_count = 0
        self.faults = Faults()
        self.walks: dict[str, int] = {}
        """How often each window was walked from its first page, for paging that differs from walk to walk."""
        self.silent_after: int | None = None
        self._rendered: dict[tuple[object, ...], Rows] = {}
        self.wound: dict[int, int] = {}
        """Terminals whose clock a fault has wound, and by how many seconds."""
        self.set_faults(faults)

    def set_faults(self, texts: Sequence[str]) -> None:
        """Switch exactly these faults on; raises UnknownFault and then changes nothing.

        Before the first call they hold for all of history; later only for what comes.
        """
        faults = read_faults(texts)
        fresh = {name: fault for name, fault in faults.active.items() if self._is_new(fault)}
        self.faults = Faults({name: fresh.get(name) or self.faults.active[name] for name in faults.active})
        upheavals.begin(self, fresh)

    def _is_new(self, fault: Fault) -> bool:
        old = self.faults.active.get(fault.name)
        return old is None or old.written != fault.written

    def move_on(self) -> None:
        """Bring the world up to its clock."""
        if self.world_clock is not None:
            self.world.advance(int(self.world_clock()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP call."""
        if scope["type"] != "http":
            return
        begun = time.perf_counter()
        call = await read_call(scope, receive)
        self.move_on()
        if call.path == "/" or call.path.startswith("/_control"):
            await send_answer(control.answer(self, call), send)
            return
        call.resource = self._resource(call.path)
        struck = self.faults.strike(call.resource)
        answer = self.answer(call, struck)
        if "slow" in struck:
            await asyncio.sleep(float(struck["slow"].value))
        self._note(call, answer, struck, begun)
        if answer.manner == "whole" or "simulator.transport" not in scope.get("extensions", {}):
            await send_answer(answer, send)
        else:
            await send_broken(answer, scope, receive)

    def answer(self, call: Call, struck: Struck) -> Answer:
        """What is said to a call on the profile's own paths."""
        answer = breakage.refusal(struck, self.profile) or self._answer(call, struck)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            answer = breakage.not_a_401(answer, struck)
        return breakage.spoil_body(answer, struck)

    def _answer(self, call: Call, struck: Struck) -> Answer:
        match call.resource:
            case "":
                return self._lost(call)
            case "sign_in":
                return self._sign_in(call, struck)
            case "refresh":
                return self._renew(call, struck)
            case _:
                return self._guarded(call, struck)

    def rows(self, call: Call, struck: Struck) -> Rows:
        """The renderer for this call's zone and these faults; kept until people or terminals change."""
        zone = self.zone_of(call)
        style: StampStyle = next((DATE_STYLES[name] for name in struck if name in DATE_STYLES), "plain")
        habits = Habits(
            text_ids=self.profile.text_ids,
            code_width=struck["leading_zeros"].number() if "leading_zeros" in struck else 0,
            text_verify="text_verify" in struck,
            localised="no_display" in struck,
            ninth_generation="ninth_generation" in struck,
            parent_ids="parent_ids" in struck,
            visible_palms="visible_palms" in struck,
            door_every=struck["door_punches"].number() if "door_punches" in struck else 0,
        )
        key = (zone.key, style, habits)
        rows = self._rendered.get(key)
        if rows is None or rows.revision != self.world.revision:
            if len(self._rendered) > RENDERERS_KEPT:
                self._rendered.clear()
            rows = self._rendered[key] = Rows(self.world, Stamps(zone, style), habits)
        return rows

    def zone_of(self, call: Call) -> ZoneInfo:
        """The zone that times are in: the header's where the profile heeds it, else the server's own."""
        name = call.headers.get("timezone", "") if self.profile.zone_follows_header else ""
        try:
            return ZoneInfo(name) if name else self.world.zone
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return self.world.zone

    def _resource(self, path: str) -> str:
        if path.startswith(tuple(PHOTO_PATHS)):
            return "photos"
        return self.profile.routes.get(path, "")

    def _lost(self, call: Call) -> Answer:
        """No such path: perhaps only its last slash is missing."""
        if call.path in REFUSED_PATHS:
            status = HTTPStatus(REFUSED_PATHS[call.path])
            return envelopes.refuse(self.profile, status, "", status.phrase)
        if self._resource(call.path + "/") and call.method == "GET":
            return Answer(301, headers={"location": call.path + "/"})
        return envelopes.refuse(self.profile, 404, "", "Not found.")

    def _sign_in(self, call: Call, struck: Struck) -> Answer:
        if call.method != "POST":
            return envelopes.refuse(self.profile, 405, "", "Method not allowed.")
        body = _read_object(call.body)
        name = body.get("username", body.get("email"))
        if not self.sessions.accepts(name, body.get("password")):
            return envelopes.bad_credentials(self.profile)
        self._set_token_habits(struck)
        return self._tokens(self.sessions.sign_in(), struck)

    def _renew(self, call: Call, struck: Struck) -> Answer:
        body = _read_object(call.body)
        self._set_token_habits(struck)
        offered = body.get("refresh", body.get("token"))
        session = None if "refresh_refused" in struck else self.sessions.renew(offered)
        if session is not None:
            return self._tokens(session, struck)
        if self.profile.name == "cloud":
            return envelopes.unauthenticated(self.profile, "")
        return envelopes.say(400, {"non_field_errors": ["Signature has expired."]})

    def _set_token_habits(self, struck: Struck) -> None:
        lasts = struck["expires_in"].number() if "expires_in" in struck else int(self.profile.token_days * 86400)
        self.sessions.lasts_s = lasts
        self.sessions.opaque = "opaque_token" in struck

    def _tokens(self, session: Any, struck: Struck) -> Answer:
        name = struck["token_name"].value if "token_name" in struck else None
        tokens: dict[str, Any] = {name or ("access" if self.profile.name == "cloud" else "token"): session.access}
        if "signin_no_token" in struck:
            tokens = {}
        if self.profile.name != "cloud":
            return envelopes.say(200, tokens)
        tokens["refresh"] = session.refresh
        if not {"no_expires_in", "opaque_token"} & struck.keys():
            tokens["expires_in"] = self.sessions.lasts_s
        return envelopes.say(200, {"code": envelopes.SUCCESS, "message": "", "data": tokens})

    def _guarded(self, call: Call, struck: Struck) -> Answer:
        """Data calls: who is asking, do they say so in the right words, and then what they asked for."""
        scheme, _, token = call.headers.get("authorization", "").partition(" ")
        session = self.sessions.find(token) if scheme == "JWT" else None
        if session is None or "token_refused" in struck:
            return envelopes.unauthenticated(self.profile, scheme)
        session.calls += 1
        for name in ("token_dies", "parallel_signin"):
            if name in struck and session.calls > struck[name].number():
                session.access_alive = False
                session.alive = name == "token_dies"
                return envelopes.unauthenticated(self.profile, scheme)
        if call.headers.get("accessor") != "Web":
            return envelopes.refuse(self.profile, 403, envelopes.NO_ACCESSOR, "Accessor is missing or unknown.")
        if call.method != "GET":
            return envelopes.refuse(self.profile, 405, "", "Method not allowed.")
        return self._photo(call) if call.resource == "photos" else self._list(call, struck)

    def _list(self, call: Call, struck: Struck) -> Answer:
        rows = self.rows(call, struck)
        page = self._page(call, struck, rows)
        if "page_beyond_404" in struck and page.page > page.pages:
            return envelopes.refuse(self.profile, 404, envelopes.FAILURE, "Invalid page.")
        breakage.spoil_page(page, struck)
        return Answer(200, envelopes.wrap(page, call, self.profile))

    def _page(self, call: Call, struck: Struck, rows: Rows) -> Page:
        limit_only = bool({"page_size_ignored", "ninth_generation"} & struck.keys())
        number, size = listing.page_of(call.query, self.profile, "limit" if limit_only else "page_size")
        if "page_cap_50" in struck:
            size = min(size, struck["page_cap_50"].number() or 1)
        found = selection.select(self, call, struck, rows, number)
        start = selection.first_row(self, call, struck, (number, size, len(found)))
        return Page(listing.render(rows, call.resource, found[start : start + size]), len(found), number, size)

    def _photo(self, call: Call) -> Answer:
        prefix = next(prefix for prefix in PHOTO_PATHS if call.path.startswith(prefix))
        subject = call.path.removeprefix(prefix).removesuffix("/")
        if not call.path.endswith("/"):
            return Answer(301, headers={"location": call.path + "/"})
        if not self._is_known(PHOTO_PATHS[prefix], subject):
            return envelopes.refuse(self.profile, 404, "", "Not found.")
        return Answer(200, photos.draw(subject), "image/png")

    def _is_known(self, what: str, subject: str) -> bool:
        if what == "people":
            return self.world.find_person(subject) is not None
        if not self.profile.text_ids:
            return subject.isdecimal() and self.world.punches.find(int(subject)) is not None
        return self.world.punches.find(number_of(subject)) is not None

    def _note(self, call: Call, answer: Answer, struck: Struck, begun: float) -> None:
        self.call_count += 1
        took_ms = (time.perf_counter() - begun) * 1000
        kept = {name: value for name, value in call.headers.items() if name not in ("authorization", "cookie")}
        kept["authorization"] = call.headers.get("authorization", "").partition(" ")[0]
        asked = (call.method, call.path, call.query, call.resource)
        self.calls.append(Noted(time.time(), *asked, answer.status, len(answer.body), took_ms, tuple(struck), kept))


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}


def create_simulator(
    world: World,
    profile: str = "cloud",
    faults: Sequence[str] = (),
    *,
    username: str = USERNAME,
    password: str = PASSWORD,
    world_clock: Callable[[], float] | None = None,
    real_clock: Callable[[], float] = time.time,
) -> Simulator:
    """The ASGI application over a world. Without `world_clock` the world stands still until told to move.

    `real_clock` decides when tokens end. Raises KeyError for an unknown profile, UnknownFault for an unknown fault.
    """
    table = PROFILES[profile]
    lasts_s = int(table.token_days * 86400)
    sessions = Sessions(username, password, real_clock, table.one_session, lasts_s)
    return Simulator(world, table, faults, sessions, world_clock)
