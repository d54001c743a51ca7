"""A hostile server writes our secrets in its own ways: none of them is kept, in excerpts, set-aside rows,
messages and queries."""

import base64
import html
import json
import sys
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.outbound import Redactor, shortened
from app.outbound.redaction import GONE, WINDOW_BYTES

PASSWORD = 'Kü9/pass"Wörd&%41<x>'
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VyIjoiYm9iIn0.c2lnbmF0dXJlLWJ5dGVz"
KNOWING = Redactor([PASSWORD, TOKEN])
Write = Callable[[str], str]


def _json_units(said: str) -> str:
    """Each letter as JSON escapes it: one behind U+FFFF is two units."""
    raw = said.encode("utf-16-be")
    return "".join(f"\\u{raw[n : n + 2].hex()}" for n in range(0, len(raw), 2))


def _base64(before: str, encode: Callable[[bytes], bytes]) -> Write:
    return lambda said: encode(before.encode() + said.encode()).decode()


CASES: dict[str, Write] = {"as it is": str, "capitals": str.upper, "small": str.lower, "swapped": str.swapcase}
TURNS: dict[str, Write] = {"forwards": str, "backwards": lambda said: said[::-1]}
CODINGS: dict[str, Write] = {
    "plain": str,
    "hex": lambda said: said.encode().hex(),
    "hex with colons": lambda said: said.encode().hex(":"),
    **{f"base64 behind {n} letters": _base64("x" * n, base64.b64encode) for n in range(3)},
    **{f"base64url behind {n} letters": _base64("x" * n, base64.urlsafe_b64encode) for n in range(3)},
}
ESCAPES: dict[str, Write] = {
    "none": str,
    "JSON": lambda said: json.dumps(said)[1:-1],
    "JSON, slashes too": lambda said: json.dumps(said)[1:-1].replace("/", "\\/"),
    "JSON, every letter": lambda said: _json_units(said).upper().replace("U", "u"),
    "JSON, every other letter": lambda said: "".join(
        _json_units(one) if place % 2 else json.dumps(one)[1:-1] for place, one in enumerate(said)
    ),
    "JSON in JSON": lambda said: json.dumps(json.dumps(said)[1:-1])[1:-1],
    "URL": lambda said: quote(said, safe=""),
    "URL, every letter": lambda said: "".join(f"%{one:02x}" for one in said.encode()),
    "URL in URL": lambda said: quote(quote(said, safe=""), safe=""),
    "URL as Latin-1": lambda said: "".join(f"%{one:02X}" for one in said.encode("latin-1", "ignore")),
    "HTML": html.escape,
    "HTML, every letter": lambda said: "".join(f"&#{ord(one)};" for one in said),
    "HTML, every letter in hex": lambda said: "".join(f"&#x{ord(one):X};" for one in said),
    "JSON in a URL": lambda said: quote(json.dumps(said)[1:-1], safe=""),
}
# The middle of what a server writes: at its ends, base64 holds parts of letters that are not the secret's.
SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Co", "Cn"]), min_size=8, max_size=40)


def spelled(secret: str, case: str, turn: str, coding: str, escape: str) -> str:
    """Of what is encoded one thing is changed at a time: each further one would double what is looked for."""
    if coding != "plain" and (case == "swapped" or turn == "backwards"):
        case = "as it is"
    return ESCAPES[escape](CODINGS[coding](TURNS[turn](CASES[case](secret))))


def kept_of(redactor: Redactor, said: str) -> dict[str, str]:
    """Everything that may be kept of an answer that says this."""
    return {
        "excerpt": redactor.excerpt(f"{{ {said} }}".encode()),
        "message": redactor.text(f"The server said: {said}."),
        "row": redactor.row({"id": 7, "note": f"<{said}>"}),
        "key of a row": redactor.row({f"<{said}>": 1}),
        "query": redactor.query([("page", said)]),
    }


WAYS = [(case, turn, "plain") for case in CASES for turn in TURNS] + [
    ("as it is", "forwards", coding) for coding in CODINGS
]


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize(("case", "turn", "coding"), WAYS)
def test_no_spelling_of_a_secret_is_kept(case: str, turn: str, coding: str, escape: str) -> None:
    for secret in (PASSWORD, TOKEN):
        said = spelled(secret, case, turn, coding, escape)
        for where, kept in kept_of(KNOWING, said).items():
            assert said[6:-6] not in kept, where
            assert len(kept) < 60, (where, kept)
            assert GONE in kept, where


@pytest.mark.parametrize("coding", CODINGS)
def test_what_is_encoded_is_found_in_any_case_and_backwards_too(coding: str) -> None:
    said = CODINGS[coding](PASSWORD)
    for written in (said.upper(), said.lower(), said.swapcase(), said[::-1]):
        assert all(len(kept) < 60 for kept in kept_of(KNOWING, written).values())


@settings(max_examples=100)
@example("AAAAAAAA", *(next(iter(one)) for one in (CASES, TURNS, CODINGS, ESCAPES)), 0)
@example('a\\b"%41%2541&amp;\\u0041 x', "capitals", "backwards", "plain", "JSON in JSON", 3)
@example("0000000\U00010000", "as it is", "forwards", "plain", "JSON, every letter", 0)
@example("ßßßßßßßß", "capitals", "forwards", "plain", "HTML", 1)
@given(
    SECRETS, st.sampled_from([*CASES]), st.sampled_from([*TURNS]), st.sampled_from([*CODINGS]), st.sampled_from([*ESCAPES]),
    st.integers(0, 2 * WINDOW_BYTES),
)  # fmt: skip
def test_no_secret_is_kept_wherever_it_stands(  # noqa: PLR0917 - the five things that make a spelling, and a place
    secret: str, case: str, turn: str, coding: str, escape: str, at: int
) -> None:
    if case != "as it is" and not secret.isascii():
        case = "as it is"  # capitals of some scripts fall together with other letters: that loses, it does not show
    if escape == "URL as Latin-1":
        escape = "URL"
    said = spelled(secret, case, turn, coding, escape)
    kept = Redactor([secret]).excerpt(("\n" * at + said + "\n" * 9000).encode())
    rest = kept.replace("\n", "").replace("…", "").replace(GONE, "")
    # Of base64 the letters at both ends tell of their neighbours as well, and some are only there to fill.
    longest = len(ESCAPES[escape]("=/"))
    assert len(rest) <= (8 * longest if coding.startswith("base64") else 0), (said, rest)


@settings(max_examples=50)
@given(st.text(max_size=300))
def test_other_words_stay(text: str) -> None:
    secret = "correct horse battery staple"
    assert Redactor([secret]).row([f"begin {text[:50]!r} end"]).startswith('["begin ')


def test_a_secret_that_is_cut_in_a_message_leaves_nothing() -> None:
    for length in range(20, 20 + len(PASSWORD)):
        said = shortened("." * 20 + PASSWORD, length)
        message = KNOWING.text(f"{said!r} is no time, and {said} neither")
        shown = message.replace(GONE, "").replace("is no time, and", "").replace("neither", "")
        assert set(shown) <= {*". '…\""}, (length, message)


def test_the_cost_grows_with_the_length_alone() -> None:
    """Counted in calls, of which each passes over a text at most once."""
    assert calls_for(400) < 4.5 * calls_for(100)
    assert calls_for(1600) < 4.5 * calls_for(400)


def calls_for(times: int) -> int:
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        KNOWING.text("%2541\\u0041 K9…" * times + PASSWORD * times)
    finally:
        sys.setprofile(None)
    return calls
