"""Answers that are wrong: refusals in place of an answer, rows and bodies that are not what they should be."""

import gzip
import zlib
from collections.abc import AsyncIterable, Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import msgspec

from app.simulator import envelopes
from app.simulator.calls import JSON_TYPE, Answer, drip
from app.simulator.envelopes import Page, refuse, say
from app.simulator.faults import Fault
from app.simulator.profiles import Profile

Struck = dict[str, Fault]
MEGABYTE = 1 << 20
BROKEN_MANNERS = ("reset", "cut_body", "cut_chunks", "broken_chunking")

SIGN_IN_PAGE = b"""<!DOCTYPE html><html><head><title>Sign in</title></head><body>
<form method="post" action="/accounts/login/">
<input name="username"><input name="password" type="password"><button>Sign in</button></form></body></html>"""
SPA_SHELL = b"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Time</title></head>
<body><noscript>Please enable JavaScript.</noscript><div id="app"></div></body></html>"""
NGINX_405 = b"""<html>
<head><title>405 Not Allowed</title></head>
<body><center><h1>405 Not Allowed</h1></center><hr><center>nginx</center></body>
</html>"""

EXPIRED_PAGE = b"""<!DOCTYPE html><html><head><title>ExpiredSignatureError at /api/</title></head>
<body><h1>ExpiredSignatureError</h1><pre class="exception_value">Signature has expired</pre></body></html>"""


def refusal(struck: Struck, profile: Profile) -> Answer | None:
    """What is said in place of any answer, when a fault that does so strikes."""
    for name, fault in struck.items():
        if name in REFUSALS:
            return REFUSALS[name](fault, profile)
    return None


def _body_code(fault: Fault, profile: Profile) -> Answer:
    if profile.name == "cloud":
        return say(200, {"code": fault.value, "message": "The service failed.", "data": None})
    return say(200, {"code": 1, "msg": "The service failed.", "data": []})


def _body_401(_: Fault, profile: Profile) -> Answer:
    if profile.name == "cloud":
        return say(200, {"code": envelopes.UNAUTHENTICATED, "message": "Not signed in.", "data": None})
    return say(200, {"code": 401, "msg": "Not signed in.", "data": []})


def _retry_after(status: int) -> Callable[[Fault, Profile], Answer]:
    def refuse_until(fault: Fault, profile: Profile) -> Answer:
        answer = refuse(profile, status, envelopes.FAILURE, "Request was throttled.")
        if fault.value != "none":
            answer.headers["retry-after"] = fault.value
        return answer

    return refuse_until


REFUSALS: dict[str, Callable[[Fault, Profile], Answer]] = {
    "http_500": lambda *_: Answer(500, b"<h1>Server Error (500)</h1>", "text/html"),
    "http_400": lambda *_: Answer(400, b"<h1>Bad Request (400)</h1>", "text/html"),
    "http_503_retry_after": _retry_after(503),
    "http_429": _retry_after(429),
    "body_code_failure": _body_code,
    "body_401": _body_401,
    "licence_403": lambda _, profile: refuse(profile, 403, envelopes.FAILURE, "Licence has expired."),
    "nginx_405": lambda *_: Answer(405, NGINX_405, "text/html"),
    "redirect": lambda fault, _: Answer(302, headers={"location": fault.value}),
    "html_200": lambda *_: Answer(200, SIGN_IN_PAGE, "text/html; charset=utf-8"),
    "spa_shell": lambda *_: Answer(200, SPA_SHELL, "text/html"),
    "http_204": lambda *_: Answer(204, content_type=""),
    "signin_400": lambda *_: Answer(400),
    "signin_401": lambda _, profile: refuse(profile, 401, envelopes.BAD_CREDENTIALS, "Wrong username or password."),
    "signin_403": lambda _, profile: refuse(profile, 403, envelopes.BAD_CREDENTIALS, "The account is disabled."),
    "signin_code": _body_code,
}


def not_a_401(answer: Answer, struck: Struck) -> Answer:
    """What some builds say where others say 401."""
    if "expired_as_500" in struck:
        return Answer(500, EXPIRED_PAGE, "text/html")
    return Answer(500, b"<h1>Server Error (500)</h1>", "text/html") if "auth_401_as_500" in struck else answer


def spoil_page(page: Page, struck: Struck) -> None:
    """Change a page before it is wrapped."""
    if "bad_row" in struck and page.rows:
        page.rows[0] = _bad_row(page.rows[0], struck["bad_row"].value)
    if "lone_surrogate" in struck and page.rows:
        page.rows[0] = page.rows[0][:-1] + ',"remark":"\\ud83d"}'
    if "total_off" in struck:
        page.total += struck["total_off"].number()
    if "next_internal" in struck:
        page.next_page = f'"http://10.8.0.3:8088/internal/api/?page={page.page + 1}"'
    if "next_null" in struck:
        page.next_page = '"null"'
    if "results_envelope" in struck:
        page.list_name = "results"


def _bad_row(text: str, kind: str) -> str:
    row: dict[str, Any] = msgspec.json.decode(text)
    if kind == "shape":
        return '"a row that is a word"'
    times = [name for name in ("punch_time", "update_time", "last_activity") if name in row]
    if kind == "time" and times:
        row[times[0]] = "yesterday, about nine"
    else:
        code = next(name for name in row if name.endswith("_code") or name == "sn")
        row[code] = None
    return msgspec.json.encode(row).decode()


def spoil_body(answer: Answer, struck: Struck) -> Answer:
    """Change a finished answer, and how it goes over the wire."""
    for name, fault in struck.items():
        if name in SPOILERS and answer.status == HTTPStatus.OK and answer.content_type == JSON_TYPE:
            SPOILERS[name](answer, fault)
        elif name in BROKEN_MANNERS:
            answer.manner = name
        elif name == "drip":
            answer.headers["content-length"] = str(len(answer.body))
            answer.stream = drip(answer.body, float(fault.value))
    return answer


def _nan(answer: Answer, _: Fault) -> None:
    spoiled = answer.body.replace(b'"temperature":0.0', b'"temperature":NaN', 1)
    answer.body = spoiled if spoiled != answer.body else answer.body[:-1] + b',"load":NaN}'


def _duplicate_keys(answer: Answer, _: Fault) -> None:
    answer.body = b'{"code":"ZBSY0099",' + answer.body[1:]


def _invalid_utf8(answer: Answer, _: Fault) -> None:
    answer.body = answer.body[:-1] + b',"note":"caf\xe9 \xff"}'


def _missing_list(answer: Answer, _: Fault) -> None:
    body = msgspec.json.decode(answer.body)
    inner = body["data"] if isinstance(body.get("data"), dict) else body
    inner.pop("data", None)
    answer.body = msgspec.json.encode(body)


def _wrong_types(answer: Answer, _: Fault) -> None:
    body = msgspec.json.decode(answer.body)
    inner = body["data"] if isinstance(body.get("data"), dict) else body
    inner |= {"data": {"0": "first"}, "total" if "total" in inner else "count": "many"}
    answer.body = msgspec.json.encode(body)


def _deep_json(answer: Answer, fault: Fault) -> None:
    depth = fault.number()
    answer.body = answer.body[:-1] + b',"deep":' + b"[" * depth + b"]" * depth + b"}"


def _not_json(answer: Answer, _: Fault) -> None:
    answer.body = b"Service ready."


def _wrong_content_type(answer: Answer, _: Fault) -> None:
    answer.content_type = "text/plain"


def _gzip_bomb(answer: Answer, fault: Fault) -> None:
    answer.body = _bomb(fault.number())
    answer.headers["content-encoding"] = "gzip"


def _oversize(answer: Answer, fault: Fault) -> None:
    answer.stream = _padded(answer.body, fault.number())


def _cut_gzip(answer: Answer, _: Fault) -> None:
    packed = gzip.compress(answer.body)
    answer.body = packed[: len(packed) * 2 // 3]
    answer.headers["content-encoding"] = "gzip"


def _broken_gzip(answer: Answer, _: Fault) -> None:
    answer.headers["content-encoding"] = "gzip"


SPOILERS: dict[str, Callable[[Answer, Fault], None]] = {
    "nan": _nan,
    "duplicate_keys": _duplicate_keys,
    "invalid_utf8": _invalid_utf8,
    "missing_list": _missing_list,
    "wrong_types": _wrong_types,
    "deep_json": _deep_json,
    "not_json": _not_json,
    "wrong_content_type": _wrong_content_type,
    "gzip_bomb": _gzip_bomb,
    "oversize": _oversize,
    "cut_gzip": _cut_gzip,
    "broken_gzip": _broken_gzip,
}


@lru_cache(maxsize=2)
def _bomb(megabytes: int) -> bytes:
    """A page that is good JSON once it is unpacked."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    pieces = [packer.compress(b'{"code":"ZBSY0000",')]
    pieces += [packer.compress(b" " * MEGABYTE) for _ in range(megabytes)]
    pieces.append(packer.compress(b'"data":{"total":0,"num_pages":1,"data":[]}}'))
    return b"".join(pieces) + packer.flush()


async def _padded(body: bytes, megabytes: int) -> AsyncIterable[bytes]:
    """Good JSON as well, behind so many megabytes of spaces."""
    yield body[:1]
    for _ in range(megabytes):
        yield b" " * MEGABYTE
    yield body[1:]
