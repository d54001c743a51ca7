"""A hostile server throws our secrets back in every part of its answer and in its own writing:
nothing that we keep shows them."""

from collections.abc import Callable, Iterator

import pytest

from app.clock.parsing import Parser
from app.clock.profiles import CLOUD
from app.clock.remote import ClockError
from tests.clock.remote.test_failures import failed
from tests.clock.remotes import MANILA, PASSWORD, rig, says_page
from tests.fakes.liar import Liar, answer, says_json
from tests.outbound.test_spellings import CASES, CODINGS, ESCAPES, TURNS, spelled

TOKEN = "first-token-0001"
WRITINGS = [
    *((case, turn, "plain", "none") for case in CASES for turn in TURNS),
    *(("as it is", "forwards", coding, "none") for coding in CODINGS),
    *(("as it is", "forwards", "plain", escape) for escape in ESCAPES),
]
ANSWERS: dict[str, Callable[[str], bytes]] = {
    "page of an error": lambda said: answer(f"<p>{said}</p>".encode(), status=500, media_type="text/html"),
    "message": lambda said: says_json({"code": "ZBSY0099", "message": f"no: {said}", "data": None}),
    "cut message": lambda said: says_json({"code": "ZBSY0099", "message": "." * 190 + said, "data": None}),
    "code": lambda said: says_json({"code": said, "message": "", "data": None}),
    "cut code": lambda said: says_json({"code": "." * 55 + said, "message": "", "data": None}),
    "kind of body": lambda said: answer(b"{}", media_type="text/" + "".join(said.split())),
    "way on": lambda said: answer(status=302, headers=(("Location", "/" + "".join(said.split())),)),
    "packing": lambda said: answer(b"{}", headers=(("Content-Encoding", "".join(said.split())),)),
}


def writings(secret: str) -> Iterator[str]:
    for case, turn, coding, escape in WRITINGS:
        yield spelled(secret, case, turn, coding, escape)


def pieces(said: str) -> Iterator[str]:
    """What would give a part of it away; its ends may belong to its neighbours."""
    core = said[5:-5]
    return (core[place : place + 8] for place in range(max(1, len(core) - 7)))


@pytest.mark.parametrize("where", ANSWERS)
async def test_what_is_kept_of_a_failure_shows_no_secret(liar: Liar, where: str) -> None:
    for secret in (PASSWORD, TOKEN):
        for said in writings(secret):
            made = rig(liar, CLOUD)
            made.says_punches(ANSWERS[where](said))
            error: ClockError = await failed(made)
            kept = [error.message, error.excerpt, str(error.redirect_to), *map(repr, made.records)]
            for piece in pieces(said):
                assert not [one for one in kept if piece in one], (said, kept)


async def test_rows_that_are_set_aside_show_no_secret(liar: Liar) -> None:
    for secret in (PASSWORD, TOKEN):
        for said in writings(secret):
            made = rig(liar, CLOUD)
            made.says_punches(says_page(CLOUD, [{"id": said, "emp_code": "1", "punch_time": said, said: said}]))
            async with made.outbound:
                page = await made.clock.fetch_page("transactions", 1, 50)
            parsed = Parser(CLOUD, MANILA, made.clock.redactor).punches(page.rows)
            (aside,) = parsed.set_aside
            for piece in pieces(said):
                assert piece not in aside.raw + aside.reason, (said, aside)
