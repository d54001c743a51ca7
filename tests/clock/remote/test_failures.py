"""The table "Failures and their codes", row by row, over a real socket."""

from typing import Any

import pytest

from app.clock.profiles import CLOUD, ONPREM, Profile
from app.clock.remote import ClockError
from app.outbound import Limits
from tests.clock.remotes import PASSWORD, Rig, rig, says_page, says_sign_in
from tests.fakes.liar import Liar, answer, drips, hangs_up, says_json, says_nothing, then_closes

BOTH = pytest.mark.parametrize("profile", [CLOUD, ONPREM], ids=lambda profile: profile.name)
LOGIN_PAGE = b"<!doctype html><title>Sign in</title><form><input name=password></form>"


async def failed(made: Rig, resource: str = "transactions") -> ClockError:
    async with made.outbound:
        with pytest.raises(ClockError) as caught:
            await made.clock.fetch_page(resource, 1, 50)
    assert type(caught.value) is ClockError
    return caught.value


# TC-NET


@BOTH
@pytest.mark.parametrize(
    "speech",
    [hangs_up, then_closes(answer(b'{"data"', length=400)), then_closes(b"nonsense\r\n\r\n"),
     then_closes(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"data":{"da')],
    ids=["hung up", "cut", "no http", "cut without a length"],
)  # fmt: skip
async def test_a_broken_line_is_net_after_three_tries(liar: Liar, profile: Profile, speech: Any) -> None:
    made = rig(liar, profile)
    made.says_punches(speech)
    error = await failed(made)
    assert error.code == "TC-NET"
    assert len(liar.asked(made.punches_path)) == 3
    assert made.codes == [None, "TC-NET", "TC-NET", "TC-NET"]


@pytest.mark.parametrize("speech", [says_nothing, drips(b"[" + b"1," * 500, 0.05)], ids=["silent", "dripping"])
async def test_an_answer_that_does_not_end_is_net(liar: Liar, speech: Any) -> None:
    made = rig(liar, CLOUD, limits=Limits(connect_s=2, call_s=0.2, attempts=2, pause_s=0.001))
    made.says_punches(speech)
    assert (await failed(made)).code == "TC-NET"


async def test_a_line_that_recovers_costs_nothing_but_a_record(liar: Liar) -> None:
    made = rig(liar, CLOUD)
    made.says_punches(hangs_up, answer(b"", status=502), says_page(CLOUD, [{"id": "a"}]))
    async with made.outbound:
        assert (await made.clock.fetch_page("transactions", 1, 50)).rows == [{"id": "a"}]
    assert made.codes == [None, "TC-NET", "TC-REMOTE", None]


# TC-POLICY


async def test_a_forbidden_address_is_policy_and_nothing_is_dialled(liar: Liar) -> None:
    made = rig(liar, CLOUD, allow="10.0.0.0/8")
    error = await failed(made)
    assert (error.code, liar.connections, made.codes) == ("TC-POLICY", 0, ["TC-POLICY"])
    assert "can allow it with MUSTER_OUTBOUND_ALLOW=127.0.0.1/32:" in error.message


# Redirects


@BOTH
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("at", ["sign-in", "page"])
async def test_a_redirect_is_shape_and_names_its_target(liar: Liar, profile: Profile, status: int, at: str) -> None:
    made = rig(liar, profile)
    moved = answer(b"moved", status=status, headers=(("Location", "https://new.example/path/?sid=s3cret"),))
    liar.says(profile.sign_in.path if at == "sign-in" else made.punches_path, moved)
    error = await failed(made)
    assert (error.code, error.redirect_to) == ("TC-SHAPE", "https://new.example/path/")
    assert "https://new.example/path/" in error.message
    assert "use that address" in error.message
    assert "s3cret" not in error.message


async def test_a_relative_redirect_names_the_whole_address(liar: Liar) -> None:
    made = rig(liar, CLOUD)
    made.says_punches(answer(status=301, headers=(("Location", "/web/att/api/v3/transactions/"),)))
    assert (await failed(made)).redirect_to == f"{liar.url}/web/att/api/v3/transactions/"


@pytest.mark.parametrize("location", ["", "http://[::1", "java\x1bscript:", "x" * 5000])
async def test_a_redirect_to_nowhere_is_shape_as_well(liar: Liar, location: str) -> None:
    made = rig(liar, CLOUD)
    made.says_punches(answer(status=302, headers=(("Location", location),)) if location else answer(status=304))
    error = await failed(made)
    assert error.code in ("TC-SHAPE", "TC-NET")
    assert len(error.message) < 600
    assert "\x1b" not in error.message


# TC-AUTH


@BOTH
@pytest.mark.parametrize("status", [400, 401, 403])
async def test_a_rejected_sign_in_is_auth_and_is_counted(liar: Liar, profile: Profile, status: int) -> None:
    made = rig(liar, profile)
    liar.says(profile.sign_in.path, says_json({"non_field_errors": ["Unable to log in."]}, status=status))
    error = await failed(made)
    assert (error.code, error.status, made.store.rejections) == ("TC-AUTH", status, 1)
    assert "Unable to log in." in error.message
    assert len(liar.heard) == 1


@BOTH
async def test_a_sign_in_code_that_is_not_on_the_list_is_auth(liar: Liar, profile: Profile) -> None:
    made = rig(liar, profile)
    liar.says(
        profile.sign_in.path,
        says_json({"code": "ZBSY0011", "message": "account disabled", "data": {"access": "abcdefgh"}}),
    )
    error = await failed(made)
    assert (error.code, made.store.rejections) == ("TC-AUTH", 1)
    assert "ZBSY0011" in error.message
    assert "account disabled" in error.message
    assert made.records[-1].body_code == "ZBSY0011"


async def test_a_bare_400_hints_at_the_company(liar: Liar) -> None:
    made = rig(liar, ONPREM)
    liar.says(ONPREM.sign_in.path, answer(b"", status=400, media_type=None))
    error = await failed(made)
    assert error.code == "TC-AUTH"
    assert "Company" in error.message


@BOTH
@pytest.mark.parametrize("status", [500, 503, 404, 405, 429])
async def test_a_sign_in_that_breaks_is_no_credential_failure(liar: Liar, profile: Profile, status: int) -> None:
    made = rig(liar, profile)
    liar.says(profile.sign_in.path, answer(LOGIN_PAGE, status=status, media_type="text/html"))
    error = await failed(made)
    assert error.code == ("TC-RATE" if status == 429 else "TC-REMOTE")
    assert made.store.rejections == 0
    assert len(liar.heard) == (3 if status >= 500 else 1)


@BOTH
@pytest.mark.parametrize(
    "document",
    [{}, {"code": "ZBSY0000", "data": {}}, {"code": "ZBSY0000", "data": None}, {"code": "ZBSY0000", "data": {"access": ""}}, [],
     {"code": "ZBSY0000", "data": {"access": "x\r\nX-Evil: 1"}}, {"code": "ZBSY0000", "data": {"access": 7}},
     {"code": ["ZBSY0000"], "data": {"access": "abcdefgh"}}, {"code": "ZBSY0000", "data": {"access": "x" * 9000}}],
)  # fmt: skip
async def test_a_sign_in_without_a_usable_token_is_shape(liar: Liar, profile: Profile, document: Any) -> None:
    made = rig(liar, profile)
    if isinstance(document, dict) and profile is ONPREM and "code" in document and isinstance(document["code"], str):
        document = {**document, "code": 0}
    liar.says(profile.sign_in.path, says_json(document))
    assert (await failed(made)).code == "TC-SHAPE"
    assert made.store.rejections == 0


@pytest.mark.parametrize(
    ("profile", "document"),
    [
        (CLOUD, {"code": "ZBSY0002", "message": "Wrong username\nor \u0000 password. "}),
        (ONPREM, {"non_field_errors": ["Wrong username\nor \u0000 password."]}),
    ],
    ids=["cloud", "onprem"],
)
async def test_what_the_server_says_ends_our_sentence_on_one_line_with_one_full_stop(
    liar: Liar, profile: Profile, document: dict[str, Any]
) -> None:
    made = rig(liar, profile)
    liar.says(profile.sign_in.path, says_json(document, 400))
    assert (
        await failed(made)
    ).message == "The server refused the user name or password (400): Wrong username or password."


# TC-TOKEN


REFUSALS = {
    "401": says_json({"code": "ZBSY0002", "detail": "expired"}, status=401),
    "401 without a body": answer(b"", status=401, media_type=None),
    "401 as a page": answer(LOGIN_PAGE, status=401, media_type="text/html"),
}


@BOTH
@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=list(REFUSALS))
async def test_one_refusal_renews_and_repeats_the_same_page(liar: Liar, profile: Profile, refusal: bytes) -> None:
    made = rig(liar, profile)
    made.says_punches(refusal, says_page(profile, [{"id": 1}]))
    async with made.outbound:
        page = await made.clock.fetch_page("transactions", 4, 50)
    assert page.rows == [{"id": 1}]
    first, second = liar.asked(made.punches_path)
    assert first.query == second.query
    assert first.headers["authorization"] == "JWT first-token-0001"
    assert second.headers["authorization"] == "JWT second-token-0002"
    assert made.codes == [None, "TC-TOKEN", None, None]


@BOTH
@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=list(REFUSALS))
async def test_the_second_refusal_in_a_row_is_token(liar: Liar, profile: Profile, refusal: bytes) -> None:
    made = rig(liar, profile)
    made.says_punches(refusal)
    error = await failed(made)
    assert error.code == "TC-TOKEN"
    assert len(liar.asked(made.punches_path)) == 2


@pytest.mark.parametrize(
    ("profile", "refusal"),
    [
        (CLOUD, says_json({"code": "ZBSY0002"})),
        (CLOUD, says_json({"code": "ZBSY0002"}, status=500)),
        (CLOUD, says_json({"code": "ZBSY0002"}, status=403)),
        (ONPREM, says_json({"code": "token_not_valid", "detail": "expired"}, status=403)),
        (ONPREM, says_json({"code": 401, "msg": "expired"})),
        (ONPREM, says_json({"code": 401, "msg": "expired"}, status=500)),
    ],
)
async def test_the_unauthenticated_code_counts_in_any_body(liar: Liar, profile: Profile, refusal: bytes) -> None:
    made = rig(liar, profile)
    made.says_punches(refusal, says_page(profile, []))
    async with made.outbound:
        await made.clock.fetch_page("transactions", 1, 50)
    assert made.codes == [None, "TC-TOKEN", None, None]


@BOTH
@pytest.mark.parametrize(
    "body",
    [b"<title>ExpiredSignatureError at /api/</title>", b"jwt.exceptions.ExpiredSignature", b'{"detail":"Signature has expired."}',
     b'{"msg":"Token has expired"}', b"<h1>token 3f9a is EXPIRED</h1>"],
)  # fmt: skip
async def test_a_server_that_breaks_on_an_expired_token_is_asked_again_with_a_new_one(
    liar: Liar, profile: Profile, body: bytes
) -> None:
    made = rig(liar, profile)
    made.says_punches(answer(body, status=500, media_type="text/html"), says_page(profile, [{"id": "a"}]))
    async with made.outbound:
        assert (await made.clock.fetch_page("transactions", 1, 50)).rows == [{"id": "a"}]
    assert made.codes.count("TC-TOKEN") == 1


@BOTH
@pytest.mark.parametrize(
    "body", [b"<h1>Server Error (500)</h1>", b"The licence has expired.", b"token", b"token</p><p>expired"]
)
async def test_any_other_broken_answer_says_nothing_about_the_token(liar: Liar, profile: Profile, body: bytes) -> None:
    made = rig(liar, profile)
    made.says_punches(answer(body, status=500, media_type="text/html"))
    assert (await failed(made)).code == "TC-REMOTE"


@BOTH
@pytest.mark.parametrize("at", ["sign-in", "page"])
async def test_a_403_hints_at_the_licence(liar: Liar, profile: Profile, at: str) -> None:
    made = rig(liar, profile)
    liar.says(profile.sign_in.path if at == "sign-in" else made.punches_path, answer(b"", status=403, media_type=None))
    error = await failed(made)
    assert error.code == ("TC-AUTH" if at == "sign-in" else "TC-REMOTE")
    assert "This server may lack its API licence." in error.message


async def test_a_refused_refresh_signs_in_again(liar: Liar) -> None:
    made = rig(liar, CLOUD)
    liar.says(CLOUD.sign_in.path, says_sign_in(CLOUD, "first-token-0001"), says_sign_in(CLOUD, "third-token-0003"))
    liar.says(CLOUD.sign_in.refresh_path, says_json({"code": "ZBSY0002"}, status=401))
    made.says_punches(REFUSALS["401"], says_page(CLOUD, []))
    async with made.outbound:
        await made.clock.fetch_page("transactions", 1, 50)
    assert liar.heard[-1].headers["authorization"] == "JWT third-token-0003"
    assert made.store.rejections == 0


async def test_a_sign_in_rejected_after_a_refused_refresh_is_auth_and_counted(liar: Liar) -> None:
    made = rig(liar, CLOUD)
    liar.says(CLOUD.sign_in.path, says_sign_in(CLOUD, "first-token-0001"), says_json({"code": "ZBSY0011"}, status=401))
    liar.says(CLOUD.sign_in.refresh_path, says_json({"code": "ZBSY0002"}, status=401))
    made.says_punches(REFUSALS["401"])
    error = await failed(made)
    assert (error.code, made.store.rejections) == ("TC-AUTH", 1)


async def test_a_refresh_that_finds_no_server_is_net_and_keeps_the_password_at_home(liar: Liar) -> None:
    made = rig(liar, CLOUD)
    liar.says(CLOUD.sign_in.refresh_path, hangs_up)
    made.says_punches(REFUSALS["401"])
    assert (await failed(made)).code == "TC-NET"
    assert len(liar.asked(CLOUD.sign_in.path)) == 1


# TC-SHAPE


BAD_SHAPES = {
    "html": answer(LOGIN_PAGE, media_type="text/html; charset=utf-8"),
    "html called json": answer(LOGIN_PAGE),
    "json called html": answer(b'{"code":0,"count":0,"data":[]}', media_type="text/html"),
    "no type": answer(b'{"code":0,"count":0,"data":[]}', media_type=None),
    "no content": answer(b"", status=204),
    "empty": answer(b""),
    "NaN": answer(b'{"code":0,"count":NaN,"data":[]}'),
    "double key": answer(b'{"code":0,"count":0,"data":[],"data":[]}'),
    "not utf-8": answer(b'{"code":0,"count":0,"data":["\xff"]}'),
    "lone surrogate": answer(rb'{"code":0,"count":0,"data":["\ud800"]}'),
    "too deep": answer(b'{"code":0,"count":0,"data":[' + b"[" * 40 + b"]" * 40 + b"]}"),
    "list": answer(b"[]"),
    "text": answer(b'"ok"'),
    "cut json": answer(b'{"code":0,"data":[{"id":1'),
    "too large": answer(b'{"x":"' + b"x" * 1_200_000 + b'"}'),
    "bomb": answer(__import__("gzip").compress(b" " * 20_000_000), headers=(("Content-Encoding", "gzip"),)),
}


@BOTH
@pytest.mark.parametrize("shape", BAD_SHAPES)
async def test_what_is_not_a_page_is_shape_at_once(liar: Liar, profile: Profile, shape: str) -> None:
    made = rig(liar, profile)
    made.says_punches(BAD_SHAPES[shape])
    error = await failed(made)
    assert error.code == "TC-SHAPE", error
    assert len(liar.asked(made.punches_path)) == 1
    assert made.records[-1].tc_code == "TC-SHAPE"


@pytest.mark.parametrize(
    "document",
    [
        {"data": {"total": 0, "data": []}},
        {"code": "ZBSY0000"},
        {"code": "ZBSY0000", "data": None},
        {"code": "ZBSY0000", "data": []},
        {"code": "ZBSY0000", "data": {"total": 0}},
        {"code": "ZBSY0000", "data": {"data": []}},
        {"code": "ZBSY0000", "data": {"total": None, "data": []}},
        {"code": "ZBSY0000", "data": {"total": "0", "data": []}},
        {"code": "ZBSY0000", "data": {"total": -1, "data": []}},
        {"code": "ZBSY0000", "data": {"total": True, "data": []}},
        {"code": "ZBSY0000", "data": {"total": 1.5, "data": []}},
        {"code": "ZBSY0000", "data": {"total": 10**30, "data": []}},
        {"code": "ZBSY0000", "data": {"total": 0, "data": {}}},
        {"code": None, "data": {"total": 0, "data": []}},
        {"code": True, "data": {"total": 0, "data": []}},
        {"code": {"x": 1}, "data": {"total": 0, "data": []}},
    ],
)
async def test_a_success_without_rows_and_total_is_never_no_rows(liar: Liar, document: Any) -> None:
    made = rig(liar, CLOUD)
    made.says_punches(says_json(document))
    assert (await failed(made)).code == "TC-SHAPE"


async def test_the_excerpt_shows_what_came_without_secrets(liar: Liar) -> None:
    made = rig(liar, CLOUD)
    page = LOGIN_PAGE + f"<!-- {PASSWORD} first-token-0001 refresh-of-first-token-0001 -->".encode()
    made.says_punches(answer(page, media_type="text/html"))
    error = await failed(made)
    assert "<title>Sign in</title>" in error.excerpt
    for kept in (error.excerpt, error.message, *(record.excerpt for record in made.records)):
        for secret in (PASSWORD, "first-token-0001"):
            assert secret not in kept


async def test_no_record_of_a_sign_in_holds_its_tokens(liar: Liar) -> None:
    made = rig(liar, CLOUD)
    made.says_punches(REFUSALS["401"], says_page(CLOUD, []))
    async with made.outbound:
        await made.clock.fetch_page("transactions", 1, 50)
    said = "".join(repr(record) for record in made.records)
    for secret in (PASSWORD, "first-token-0001", "second-token-0002"):
        assert secret not in said
    assert "[redacted]" in said


# TC-REMOTE


@BOTH
@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_fault_of_the_server_is_remote_after_three_tries(liar: Liar, profile: Profile, status: int) -> None:
    made = rig(liar, profile)
    made.says_punches(answer(b"<h1>Bad gateway</h1>", status=status, media_type="text/html"))
    error = await failed(made)
    assert (error.code, error.status, len(liar.asked(made.punches_path))) == ("TC-REMOTE", status, 3)


@BOTH
@pytest.mark.parametrize("status", [400, 403, 404, 405, 410, 422])
async def test_any_other_refusal_is_remote_at_once(liar: Liar, profile: Profile, status: int) -> None:
    made = rig(liar, profile)
    made.says_punches(says_json({"msg": "licence expired"}, status=status))
    error = await failed(made)
    assert (error.code, error.status, len(liar.asked(made.punches_path))) == ("TC-REMOTE", status, 1)
    assert "licence expired" in error.message


@pytest.mark.parametrize(
    ("profile", "code"),
    [
        (CLOUD, "ZBSY0001"),
        (CLOUD, 0),
        (CLOUD, "0"),
        (CLOUD, "zbsy0000"),
        (ONPREM, 1),
        (ONPREM, -1),
        (ONPREM, "ZBSY0000"),
    ],
)
async def test_a_failure_code_with_200_is_remote(liar: Liar, profile: Profile, code: Any) -> None:
    made = rig(liar, profile)
    made.says_punches(
        says_json({"code": code, "message": "no such thing", "count": 0, "data": {"total": 0, "data": []}})
    )
    error = await failed(made)
    assert error.code == "TC-REMOTE"
    assert str(code) in error.message
    assert "no such thing" in error.message
    assert made.records[-1].body_code == str(code)


# TC-RATE


@BOTH
@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [(429, "120", 120), (429, None, 60), (429, "nonsense", 60), (429, "99999999", 3600), (503, "30", 30), (503, "soon", 60),
     (429, "Wed, 21 Oct 2015 07:28:00 GMT", 0), (429, "Friday, 20-Nov-26 08:05:00 GMT", 300), (503, "Fri Nov 20 08:10:00 2026", 600)],
)  # fmt: skip
async def test_being_asked_to_wait_is_rate(
    liar: Liar, profile: Profile, status: int, value: str | None, seconds: float
) -> None:
    made = rig(liar, profile)
    made.says_punches(answer(b"slow down", status=status, headers=(("Retry-After", value),) if value else ()))
    error = await failed(made)
    assert (error.code, error.retry_after_s, len(liar.asked(made.punches_path))) == ("TC-RATE", seconds, 1)


# Ends of lists


async def test_a_page_behind_the_last_one_is_empty_and_no_error(liar: Liar) -> None:
    made = rig(liar, ONPREM)
    made.says_punches(says_json({"detail": "Invalid page."}, status=404))
    async with made.outbound:
        page = await made.clock.fetch_page("transactions", 9, 50)
        assert (page.rows, page.more_after(400)) == ([], False)
        with pytest.raises(ClockError, match="404"):
            await made.clock.fetch_page("transactions", 1, 50)
