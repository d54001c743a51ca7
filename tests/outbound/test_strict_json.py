"""Strict decoding: what JSON parsers let through is refused here, and nothing good is."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.outbound.strict_json import MAX_DEPTH, JsonCutShortError, JsonError, decode

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(JSON, st.booleans())
def test_every_proper_document_is_read_as_the_standard_library_reads_it(document: Any, ascii_only: bool) -> None:
    assert decode(json.dumps(document, ensure_ascii=ascii_only).encode()) == document


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(), st.text() | st.integers(), min_size=1, max_size=5), st.data(), st.booleans())
def test_a_key_that_stands_twice_is_always_found(fields: dict[str, Any], data: st.DataObject, ascii_only: bool) -> None:
    again = data.draw(st.sampled_from(sorted(fields)))
    pairs = [*fields.items(), (again, data.draw(st.text() | st.none()))]
    raw = "{" + ",".join(f"{json.dumps(k, ensure_ascii=ascii_only)}:{json.dumps(v)}" for k, v in pairs) + "}"
    with pytest.raises(JsonError):
        decode(f'{{"data":[{raw}]}}'.encode())


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"NaN", "malformed"),
        (b'{"a":Infinity}', "malformed"),
        (b'{"a":-Infinity}', "malformed"),
        (b'{"a":1e999}', "^number out of range"),
        (b'{"a":"\xff"}', "UTF-8"),
        (b'{"a\xff":1}', "UTF-8"),
        (b'{"a":\xff}', "UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "UTF-8"),
        (rb'{"a":"\ud800"}', "surrogate"),
        (rb'{"a":"\udc00x"}', "surrogate"),
        (b'\xef\xbb\xbf{"a":1}', "malformed"),
        (b'{"a":1,"a":1}', "twice"),
        (rb'{"a":1,"\u0061":1}', "twice"),
        (rb'{"a":1,"a":"\u003a"}', "twice"),
        (rb'{"a":"\u003A","a":"::"}', "twice"),
        (b'{"x":[{"b":{"a":1,"a":2}}]}', "twice"),
        (b'{"a":1} {"a":1}', "trailing"),
        (b"{'a':1}", "malformed"),
        (b'{"a":1,}', "trailing comma"),
        (b'{"a":"\n"}', "malformed"),
        (b'{"a":01}', "malformed"),
        (b"<html>", "malformed"),
    ],
)
def test_what_is_not_strict_json_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(JsonError, match=reason):
        decode(raw)


@pytest.mark.parametrize("raw", [b"", b"   ", b'{"data":[{"id":1', b'{"a":"xy', b"[1,2,"])
def test_a_document_that_ends_in_the_middle_is_told_apart(raw: bytes) -> None:
    with pytest.raises(JsonCutShortError):
        decode(raw)


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ('["}",', "]"), ('{"a":"[","b":', "}")])
def test_nesting_ends_at_the_limit(opens: str, closes: str) -> None:
    assert decode((opens * MAX_DEPTH + "1" + closes * MAX_DEPTH).encode()) is not None
    for depth in (MAX_DEPTH + 1, 900, 200_000):
        with pytest.raises(JsonError, match="deeper than 32"):
            decode((opens * depth + "1" + closes * depth).encode())


def test_colons_inside_texts_do_not_confuse_the_search_for_double_keys() -> None:
    document = {"time": "09:14:58", "a:b": "::", "url": "http://x:80/"}
    assert decode(json.dumps(document).encode()) == document
    assert decode(rb'{"a":"\u003a\u003a","b":":"}') == {"a": "::", "b": ":"}
