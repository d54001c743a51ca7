"""Taking secrets out of what may be kept of a call: by value first (app.outbound.spellings), then by key, and only then
cut. Keeps nothing."""

import codecs
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from app.outbound.spellings import Spellings

EXCERPT_BYTES = 2048
WINDOW_BYTES = 4096
GONE = "[redacted]"

_DEPTH = 32
_BLOB = 48  # a longer value under a biometric key is a template, not a flag such as "Ver 10:1"

_SECRET_KEY = re.compile(
    r"passw|pwd|passphrase|secret|token|photo|picture|avatar|template|biodata|bio_?photo|credential|authoriz|cookie|session"
    r"|api_?key|private_?key|card(?:_?(?:no|number|id)s?)?$|card_?(?:no|number|id)|hash$|^(?:access|refresh|jwt|otp|pin_?code)$"
)
_BIOMETRIC_KEY = re.compile(r"finger|face|palm|iris|vein|bio")
_PAIR = re.compile(
    r"""(?P<key>[A-Za-z_][\w.-]{1,60})(?P<mid>["']?\s*[=:]\s*)(?P<value>"[^"]*"?|'[^']*'?|[^\s&"'<>,;{}\[\]]+)"""
)
_JSON_PAIR = re.compile(r'"(?P<key>(?:[^"\\]|\\.){1,80})"\s*:\s*')
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?$)', re.DOTALL)
_JSON_SCALAR = re.compile(r"[^\s,}\]]*")
_BLOBS = [
    re.compile(r"\b(?:JWT|Bearer|Basic|Token)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE),
    re.compile(r"eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*\.?[A-Za-z0-9_-]*"),
    re.compile(r"[A-Za-z0-9+/_=\\-]{160,}"),
]
# PostgreSQL takes no NUL in text; the other control characters would garble a log page.
_CONTROLS = dict.fromkeys((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, *range(0xD800, 0xE000)), "\ufffd")


class Redactor:
    """Knows the secret values of one connection. Has no repr that could show them."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = Spellings(secrets)

    def __repr__(self) -> str:
        return "Redactor(…)"

    def text(self, text: str) -> str:
        """The whole text without secrets, by value, then by key;
        also without the beginning of one that `shortened` cut."""
        return _without_keys(self._secrets.without(text, GONE))

    def excerpt(self, body: bytes) -> str:
        """At most 2 KiB (UTF-8) of an answer's beginning, safe to keep and to store in PostgreSQL."""
        whole = len(body) <= WINDOW_BYTES
        # Half a letter at the end of the window would hide that a secret begins before it.
        begins = codecs.getincrementaldecoder("utf-8")("replace").decode(body[:WINDOW_BYTES], whole)
        return _cut(_without_keys(self._beginning(begins, whole=whole)).translate(_CONTROLS))

    def _beginning(self, text: str, *, whole: bool) -> str:
        """When the text is cut here, the cut may split a secret: a possible first part of one is removed too."""
        hide = self._secrets.without if whole else self._secrets.without_in_beginning
        return hide(text, GONE)

    def query(self, pairs: Iterable[tuple[str, str]]) -> str:
        """A query string for reading, not for sending."""
        return "&".join(f"{key}={GONE if _is_secret(key) else self.text(value)}" for key, value in pairs)

    def row(self, row: Any) -> str:
        """A row set aside, as JSON text of at most 2 KiB: secrets gone by value and key at every depth."""
        cleaned = self._clean(row)
        try:
            text = msgspec.json.encode(cleaned).decode()
        except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
            text = json.dumps(cleaned, default=str)
        return _cut(text.replace("\\u0000", "\ufffd").translate(_CONTROLS))

    def _clean(self, value: Any, depth: int = 0) -> Any:
        if depth > _DEPTH:
            return GONE
        if isinstance(value, Mapping):
            return {
                self._clean_text(str(key)): GONE if _hides(str(key), inner) else self._clean(inner, depth + 1)
                for key, inner in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return [self._clean(inner, depth + 1) for inner in value]
        return self._clean_text(value) if isinstance(value, str) else value

    def _clean_text(self, text: str) -> str:
        begins = text[:WINDOW_BYTES]
        return _without_keys(self._beginning(begins, whole=len(begins) == len(text))).translate(_CONTROLS)


@lru_cache(4096)  # a page repeats the same few keys on every row
def _is_secret(key: str) -> bool:
    return _SECRET_KEY.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower().replace("-", "_")) is not None


def _hides(key: str, value: Any) -> bool:
    if _is_secret(key):
        return value is not None and not isinstance(value, bool)
    return isinstance(value, str) and len(value) > _BLOB and _BIOMETRIC_KEY.search(key.lower()) is not None


def _without_keys(text: str) -> str:
    """Values of telling keys, in JSON first (also when it is cut), then in anything that looks like `key=value`."""
    text = _without_json_keys(text)
    text = _PAIR.sub(_pair_redacted, text)
    for blob in _BLOBS:
        text = blob.sub(GONE, text)
    return text


def _without_json_keys(text: str) -> str:
    kept: list[str] = []
    position = 0
    for pair in _JSON_PAIR.finditer(text):
        if pair.end() <= position or pair.start() < position:
            continue
        end = _hidden_end(text, pair["key"], pair.end())
        if end is not None:
            kept += (text[position : pair.end()], f'"{GONE}"')
            position = end
    return "".join((*kept, text[position:]))


def _hidden_end(text: str, key: str, start: int) -> int | None:
    """Where the value that starts at `start` ends, if its key says it must go."""
    opener = text[start : start + 1]
    if opener == '"':
        found = _JSON_STRING.match(text, start)
        inner = found[0][1:-1] if found else ""
        return found.end() if found and _hides(_unescaped(key), inner) else None
    if not _is_secret(_unescaped(key)):
        return None
    if opener in ("{", "["):
        return _container_end(text, start)
    scalar = _JSON_SCALAR.match(text, start)
    word = scalar[0] if scalar else ""
    return None if word in ("null", "true", "false", "") else start + len(word)


def _container_end(text: str, start: int) -> int:
    """The end of an object or array; the end of the text when it is cut."""
    depth, position = 0, start
    while position < len(text):
        letter = text[position]
        if letter == '"':
            found = _JSON_STRING.match(text, position)
            position = found.end() if found else len(text)
            continue
        depth += (letter in "{[") - (letter in "}]")
        position += 1
        if depth == 0:
            return position
    return len(text)


def _unescaped(key: str) -> str:
    if "\\" not in key:
        return key
    try:
        return str(json.loads(f'"{key}"', strict=False))
    except ValueError:
        return key


def _pair_redacted(pair: re.Match[str]) -> str:
    if not _is_secret(pair["key"]) or GONE in pair["value"] or pair["value"] in ("null", "true", "false"):
        return pair[0]
    quotes = pair["value"][0] if pair["value"][0] in "\"'" else ""
    return f"{pair['key']}{pair['mid']}{quotes}{GONE}{quotes}"


def _cut(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= EXCERPT_BYTES:
        return text
    return encoded[: EXCERPT_BYTES - 3].decode("utf-8", "ignore") + "…"
