"""The token against forged requests: masked again in each answer, and only that of the session passes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web import csrf
from tests.conftest import Browser

TOKEN = st.binary(min_size=csrf.SIZE, max_size=csrf.SIZE)
ANY = "ab" * csrf.SIZE


@given(TOKEN, TOKEN)
def test_a_mask_comes_off(token: bytes, mask: bytes) -> None:
    assert csrf.unmasked(csrf.masked(token.hex(), mask)) == token.hex()


@given(TOKEN, TOKEN, TOKEN)
def test_under_each_mask_it_looks_different(token: bytes, mask: bytes, other: bytes) -> None:
    same = csrf.masked(token.hex(), mask) == csrf.masked(token.hex(), other)
    assert same == (mask == other)


@pytest.mark.parametrize("sent", ["", "x", "é", "=", ANY, "A" * 85, "A" * 88, "A" * 87 + "é", "\x00" * 86])
def test_a_value_without_a_mask_comes_back_as_it_is(sent: str) -> None:
    assert csrf.unmasked(sent) == sent


@given(st.text(max_size=100))
def test_anything_can_be_sent(sent: str) -> None:
    assert isinstance(csrf.unmasked(sent), str)


async def test_no_two_answers_hold_the_same_token(alice: Browser) -> None:
    tokens = set()
    for _ in range(3):
        page = (await alice.get("/people/add")).text
        [one] = set(re.findall(r'name="csrf_token" value="([^"]+)"', page))
        tokens.add(one)
        assert one in re.findall(r'X-CSRF-Token": "([^"]+)"', page.replace("&#34;", '"'))
    assert len(tokens) == 3
    assert len({csrf.unmasked(one) for one in tokens}) == 1


async def test_each_masked_token_and_the_one_of_the_version_before_pass(alice: Browser) -> None:
    page = (await alice.get("/people/add")).text
    [masked] = set(re.findall(r'name="csrf_token" value="([^"]+)"', page))
    for token, status in ((masked, 422), (csrf.unmasked(masked), 422), (ANY, 403), (masked[:-4] + "AAA=", 403)):
        answer = await alice.post("/people/import", data={csrf.FIELD: token})
        assert answer.status_code == status, token
