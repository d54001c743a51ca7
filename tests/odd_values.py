"""Input that neither keyboards nor browsers send: values, bodies and headers, one of each kind that once broke
something, or that a parser, Python or PostgreSQL has an edge at."""

import json
from typing import Any

NUL, LONG, NO_TEXT, DIGIT = "NUL", "long", "no UTF-8, and half a surrogate pair", "a digit that is no number"
FIRST, LAST, DIGITS, SIGNS = "the first day", "the last day", "more digits than int takes", "signs"
UNKNOWN, BLANKS = "a uuid of no row", "blanks"
VALUES: dict[str, bytes] = {
    NUL: b"7\x00",
    LONG: b"x " * 5000,
    BLANKS: b" \t ",
    NO_TEXT: b"7\xff\xed\xa0\x80",
    DIGIT: "①".encode(),
    DIGITS: b"9" * 5000,
    "beyond bigint": b"9223372036854775808",
    "beyond integer": b"2147483648",
    "negative": b"-1",
    "none such": b"999999999",
    FIRST: b"0001-01-01",
    LAST: b"9999-12-31",
    "before the first instant": b"0001-01-01T00:00:00+14:00",
    "the last minute": b"9999-12-31T23:59",
    SIGNS: "%_\\'\"[]{}<b>;--\r\nSet-Cookie: a=b\u202e".encode(),
    "no address": b"http://[::1",
    UNKNOWN: b"00000000-0000-4000-8000-000000000000",
    "an id by hand": "#①".encode(),
}
# What differs for a filter of a page, for a parameter that a program sends, for a part of an address, for a header, and
# for what is only compared.
OF_QUERIES = (NUL, LONG, BLANKS, DIGIT, DIGITS, "beyond integer", FIRST, LAST, SIGNS, UNKNOWN)
OF_PARAMETERS = (*OF_QUERIES, NO_TEXT, "beyond bigint", "negative", "before the first instant")
OF_ADDRESSES = (NUL, NO_TEXT, DIGITS)
OF_HEADERS = (LONG, NO_TEXT, DIGIT, SIGNS, "no address", BLANKS)
OF_WORDS = (NUL, LONG, BLANKS, NO_TEXT, DIGIT, SIGNS)
# What another server is asked with: the others bring it the same statements,
# and are read or refused on this side of it.
TO_ANOTHER_SERVER = (NUL, LONG, BLANKS, DIGITS, "beyond integer", FIRST, LAST, SIGNS, UNKNOWN)

_PARTS = "multipart/form-data; boundary=xx"


def _part(value: bytes, disposition: str = 'form-data; name="name"', more: str = "") -> tuple[str, bytes]:
    head = f"--xx\r\nContent-Disposition: {disposition}\r\n{more}\r\n"
    return _PARTS, head.encode() + value + b"\r\n--xx--\r\n"


def _file(name: str) -> tuple[str, bytes]:
    disposition = f'form-data; name="{name}"; filename="a\xff.csv"'
    return _part(b"a,b\xff\x00", disposition, "Content-Type: absurd; charset=none\r\n")


# Content type and body of a form.
BODIES: dict[str, tuple[str, bytes]] = {
    "JSON": ("application/json", b'{"name": "Ada"}'),
    "broken JSON": ("application/json", b'{"name": '),
    "an absurd type": ("absurd", b"name=Ada"),
    "no type": ("", b"name=Ada"),
    "broken percents": ("application/x-www-form-urlencoded", b"%zz=%&&==&%00=%ff"),
    "an unknown encoding": ("application/x-www-form-urlencoded; charset=nonsense", b"name=\xff"),
    "so many fields": ("application/x-www-form-urlencoded", b"&".join([b"name=a"] * 20_000)),
    "too much": ("application/x-www-form-urlencoded", b"name=" + b"a" * (11 * 1024 * 1024)),
    "parts without a boundary": ("multipart/form-data", b"name=Ada"),
    "no part": (_PARTS, b"name=Ada"),
    "nothing": (_PARTS, b""),
    "a part that breaks off": (_PARTS, _part(b"Ada")[1][:-9]),
    "a part without a name": _part(b"Ada", "form-data"),
    "a part that is no text": _part(b"\xff"),
    "a part in an unknown encoding": _part(b"Ada", more="Content-Type: text/plain; charset=nonsense\r\n"),
    "so many parts": (_PARTS, _part(b"a")[1].replace(b"--xx--\r\n", b"") * 2000 + b"--xx--\r\n"),
    "a file as text": _file("name"),
    "a file as token": _file("csrf_token"),
    "a file as way back": _file("back"),
    "a text as file": _part(b"id_number,name\n1,Ada", 'form-data; name="file"'),
    "a text as icon": _part(b"icon", 'form-data; name="icon"'),
    "a picture that is none": _file("icon"),
    "a table that is none": _file("file"),
}
HEADERS = (
    "origin", "referer", "hx-current-url", "hx-target", "hx-request", "hx-boosted", "cookie", "accept", "accept-language",
    "accept-encoding", "authorization", "x-forwarded-for", "if-none-match", "if-modified-since", "range", "user-agent",
    "x-csrf-token", "content-type", "x-request-id",
)  # fmt: skip

# In the place of a JSON value; then whole bodies, and their content types.
JSON_VALUES = (
    "null", "true", "[]", "{}", '""', '"\\u0000"', '"\\ud800"', "0", "-1", "9223372036854775808", "1" + "0" * 400, "1.5",
    "1e999", "NaN", '"①"', f'"{"x" * 60_000}"', "[" * 400 + "]" * 400, '"9999-12-31"', "[null, 1, []]", '{"question": 1}',
    '[{"question": "1", "value": {}}]', f'[{{"question": "{VALUES[UNKNOWN].decode()}", "value": [1, "a\\u0000"]}}]',
)  # fmt: skip
JSON_BODIES = (
    b"", b" ", b"[]", b"null", b'"', b"{", b"\xff", b"\xef\xbb\xbf{}", b'{"a": 1, "a": 2}', b'{"\xff": 1}',
    b'{"\\u0000": 1}', b'{"\\ud800": 1}', b"[" * 30_000, b'{"a":' * 10_000, b'{"a": ' + b"9" * 5000 + b"}", b"x" * 70_000,
    json.dumps(dict.fromkeys(map(str, range(5000)))).encode(),
)  # fmt: skip
JSON_TYPES = (
    b"",
    b"absurd",
    b"text/html",
    b"application/json; charset=utf-16",
    b"application/json;;=\xff",
    _PARTS.encode(),
)
# Bodies that are right, but for the account, the survey and the app, which are in no database yet.
RIGHT: dict[str, dict[str, Any]] = {
    "/v1/api/auth/token": {"email": "stranger@example.org", "password": "x" * 20, "otp": "123456"},
    "/v1/api/me/app-rating": {"app": "", "rating": 5, "platform": "ios", "comment": "Good.", "app_version": "1"},
    "/v1/api/me/surveys/respond": {
        "survey": "",
        "action": "decline",
        "answers": [],
        "version": 1,
        "content_hash": "0" * 64,
    },
}
