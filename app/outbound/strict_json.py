"""Strict decoding of JSON that someone else wrote, at C speed. Knows nothing of HTTP or of what the JSON means."""

import json
from typing import Any

import msgspec

MAX_DEPTH = 32

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()
_CONTAINERS = frozenset((dict, list))
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


class JsonError(ValueError):
    """The bytes are not strict JSON; the message says why in a few words."""


class JsonCutShortError(JsonError):
    """The bytes end in the middle of the document."""


def decode(raw: bytes) -> Any:
    """The document in `raw`. Raises JsonError on anything doubtful.

    Refused: invalid UTF-8, NaN and Infinity, numbers out of range, lone surrogates, trailing text, duplicate keys,
    nesting deeper than MAX_DEPTH. A page of 500 punches costs about 1 ms.
    """
    document = _decode(raw)
    _refuse_depth(raw, document)
    _refuse_duplicates(raw, document)
    return document


def _decode(raw: bytes) -> Any:
    try:
        return _decoder.decode(raw)
    except RecursionError:
        raise JsonError(f"nested deeper than {MAX_DEPTH} levels") from None
    except UnicodeDecodeError:
        raise JsonError("not valid UTF-8") from None
    except msgspec.DecodeError as error:
        if "truncated" in str(error):
            # half of a surrogate pair at the end of a text is reported as truncation, too
            if raw.rstrip().endswith((b"}", b"]")):
                raise JsonError("a text is not closed or holds a lone surrogate") from None
            raise JsonCutShortError("ends in the middle") from None
        raise JsonError(_reason(raw, str(error))) from None


def _reason(raw: bytes, error: str) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return "not valid UTF-8"
    error = error.removeprefix("JSON is ")
    return error[:1].lower() + error[1:]


def _refuse_depth(raw: bytes, document: Any) -> None:
    """Brackets alone first: each round takes the innermost pairs away.
    What is left then stands in texts, or is too deep."""
    brackets = raw.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            return
        brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
    if brackets:
        _refuse_deep_values(document)


def _refuse_deep_values(document: Any) -> None:
    """Walks containers only, one level at a time: nesting never costs Python stack."""
    level = [document] if type(document) in _CONTAINERS else []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise JsonError(f"nested deeper than {MAX_DEPTH} levels")
        level = [
            child
            for parent in level
            for child in (parent.values() if type(parent) is dict else parent)
            if type(child) in _CONTAINERS
        ]


def _refuse_duplicates(raw: bytes, document: Any) -> None:
    """A repeated key is lost in decoding, and its colon with it: encode again and compare the number of colons.

    Colons inside strings survive the round trip, unless the raw text spells them as an escape; such text takes the
    slow way. (json.loads with a pairs hook costs three times as much on every page.)
    """
    if b"\\u003" in raw:
        json.loads(raw, object_pairs_hook=_refuse_repeated)
    elif raw.count(b":") != _encoder.encode(document).count(b":"):
        raise JsonError("an object names the same key twice")


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise JsonError("an object names the same key twice")
