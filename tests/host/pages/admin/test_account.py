"""`/account`: one's own password, second factor, sessions and tokens."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pyotp
import pytest
import segno
from sqlalchemy import func, select, update

from app.accounts import second_factor, tokens
from app.accounts.audit import COMMAND_LINE, Actor
from app.accounts.browsers import described
from app.accounts.models import ApiToken, Session
from app.db.session import Database
from app.parts import Parts
from app.secrets import Secret
from tests.conftest import Browser, SignIn
from tests.host.signing_in import (
    ANOTHER,
    PASSWORD,
    acts,
    code_of,
    everything_audited,
    give_password,
    give_second_factor,
    submit_sign_in,
    user_id_of,
    user_of,
    wrong_code,
)
from tests.markup import squeezed, unnamed_forms

CHANGE = {"current": PASSWORD, "password": ANOTHER}
TOKEN = re.compile(r"muster_[\w-]{40,}")
SETUP = re.compile(r'name="setup" value="([^"]+)"')
CODES = re.compile(r"<li>((?:[A-Z2-7]{4}-){3}[A-Z2-7]{4})</li>")
KEY = re.compile(r"secret=([A-Z2-7]+)")


async def test_only_people_who_are_signed_in_have_an_account_page(sign_in: SignIn, visitor: Browser) -> None:
    for short in ("alice", "nora", "eve"):
        assert (await (await sign_in(short)).get("/account")).status_code == 200
    assert (await visitor.get("/account")).headers["location"].startswith("/sign-in")


async def test_the_page_takes_three_selects(alice: Browser, selects: list[str]) -> None:
    await alice.get("/account")
    assert len(selects) <= 3, selects


async def test_a_password_that_was_given_and_never_changed_is_not_called_missing(bob: Browser) -> None:
    assert "Not changed since the account was made" in squeezed((await bob.get("/account")).text)


async def test_a_new_password_wants_the_old_one_and_ends_the_other_sessions(
    sign_in: SignIn, visitor: Browser, database: Database
) -> None:
    await give_password(database, "bob")
    here, elsewhere = await sign_in("bob"), await sign_in("bob")
    old = dict(here.cookies)
    assert (await here.submit("/account/password", CHANGE)).status_code == 303
    page = await here.get("/account")
    assert "1 other browser was signed out" in page.text
    assert (await elsewhere.get("/account")).status_code == 303
    with_old_id = Browser(transport=here._transport, base_url="http://testserver", cookies=old)
    assert (await with_old_id.get("/account")).status_code == 303
    assert (await submit_sign_in(visitor, "bob")).status_code == 422
    assert (await submit_sign_in(visitor, "bob", ANOTHER)).status_code == 303
    audited = await everything_audited(database)
    assert "user.change_password" in audited
    assert ANOTHER not in audited
    assert PASSWORD not in audited


@pytest.mark.parametrize(
    ("box", "revoked"),
    [({}, 0), ({"revoke_tokens": "1"}, 2)],
)
async def test_a_new_password_asks_whether_to_revoke_the_tokens(
    bob: Browser, database: Database, token: Any, box: dict[str, str], revoked: int
) -> None:
    await give_password(database, "bob")
    for owner in ("bob", "bob", "alice"):
        await token(owner, "me")
    assert "Revoke my 2 API tokens too" in (await bob.get("/account/password")).text
    assert (await bob.submit("/account/password", {**CHANGE, **box})).status_code == 303
    assert ("2 API tokens were revoked." in (await bob.get("/account")).text) is (revoked == 2)
    async with database.shared_transaction() as db:
        ended = (await db.execute(select(ApiToken.user_id).where(ApiToken.revoked_at.is_not(None)))).scalars().all()
    assert ended == [await user_id_of(database, "bob")] * revoked
    assert (await acts(database)).count("token.revoke") == revoked


async def test_a_new_password_asks_nothing_where_there_are_no_tokens(bob: Browser) -> None:
    assert "revoke_tokens" not in (await bob.get("/account/password")).text


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"current": "wrong"}, "not your password"), ({"password": "short"}, "At least 12"), ({"current": ""}, "needed")],
)
async def test_a_password_that_can_not_be_changed_says_why_and_changes_nothing(
    bob: Browser, visitor: Browser, database: Database, changed: dict[str, str], said: str
) -> None:
    await give_password(database, "bob")
    answer = await bob.submit("/account/password", {**CHANGE, **changed})
    assert answer.status_code == 422
    assert said in answer.text
    assert ANOTHER not in answer.text
    assert (await submit_sign_in(visitor, "bob")).status_code == 303


async def test_a_borrowed_session_is_no_place_to_guess_the_password(bob: Browser, database: Database) -> None:
    await give_password(database, "bob")
    for _ in range(5):
        await bob.submit("/account/password", {**CHANGE, "current": "wrong"})
    assert (await user_of(database, "bob")).locked_until is not None
    assert (await bob.submit("/account/password", CHANGE)).status_code == 422


async def test_the_right_password_there_gives_no_tries_at_the_second_factor_back(
    bob: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "bob")
    await give_second_factor(parts, "bob")
    await bob.submit("/account/password", {**CHANGE, "current": "wrong"})
    await bob.submit("/account/second-factor/off", {"current": "wrong"})
    await bob.submit("/account/password", {**CHANGE, "password": PASSWORD + "!", "current": "wrong"})
    assert (await user_of(database, "bob")).failed_sign_ins == 3


async def begin_setup(browser: Browser) -> tuple[str, str]:
    """What the form carries, and the key that the authenticator gets."""
    text = (await browser.get("/account/second-factor")).text
    setup, key = SETUP.search(text), KEY.search(text)
    assert setup
    assert key
    return setup[1], key[1]


async def test_a_second_factor_is_on_once_a_code_of_it_was_given(
    bob: Browser, visitor: Browser, database: Database
) -> None:
    await give_password(database, "bob")
    setup, key = await begin_setup(bob)
    assert key not in setup
    given = {"setup": setup, "code": code_of(key), "current": PASSWORD}
    answer = await bob.submit("/account/second-factor", given, follow_redirects=True)
    assert "The second factor is on." in answer.text
    assert "10 of 10 left" in (await bob.get("/account")).text
    stored = (await user_of(database, "bob")).totp_secret
    assert stored
    assert key not in stored
    assert key not in await everything_audited(database)
    assert "user.enable_second_factor" in await acts(database)
    assert (await submit_sign_in(visitor, "bob")).status_code == 422
    assert (await submit_sign_in(visitor, "bob", otp=code_of(key, steps=1))).status_code == 303


async def test_the_code_that_confirmed_it_does_not_sign_in_too(
    bob: Browser, visitor: Browser, database: Database
) -> None:
    await give_password(database, "bob")
    setup, key = await begin_setup(bob)
    code = code_of(key)
    await bob.submit("/account/second-factor", {"setup": setup, "code": code, "current": PASSWORD})
    assert (await submit_sign_in(visitor, "bob", otp=code)).status_code == 422


async def test_a_wrong_code_switches_nothing_on_and_keeps_the_key(bob: Browser, database: Database) -> None:
    await give_password(database, "bob")
    setup, key = await begin_setup(bob)
    data = {"setup": setup, "code": wrong_code(key), "current": PASSWORD}
    answer = await bob.submit("/account/second-factor", data)
    assert answer.status_code == 422
    assert key in answer.text
    assert (await user_of(database, "bob")).totp_secret is None
    assert (await bob.submit("/account/second-factor", {**data, "code": code_of(key)})).status_code == 303


async def test_it_is_not_switched_on_without_the_password(bob: Browser, database: Database) -> None:
    await give_password(database, "bob")
    setup, key = await begin_setup(bob)
    answer = await bob.submit("/account/second-factor", {"setup": setup, "code": code_of(key), "current": "wrong"})
    assert answer.status_code == 422
    assert (await user_of(database, "bob")).totp_secret is None


async def test_somebody_elses_set_up_is_refused(bob: Browser, vera: Browser, database: Database) -> None:
    """Else one could be made to sign in with a key that another person knows."""
    await give_password(database, "bob")
    setup, key = await begin_setup(vera)
    for foreign in (setup, "nonsense", ""):
        data = {"setup": foreign, "code": code_of(key), "current": PASSWORD}
        assert (await bob.submit("/account/second-factor", data)).status_code == 409
    assert (await user_of(database, "bob")).totp_secret is None


async def test_a_second_factor_that_is_on_is_not_replaced_by_another_tab(
    bob: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "bob")
    setup, key = await begin_setup(bob)
    await give_second_factor(parts, "bob")
    before = (await user_of(database, "bob")).totp_secret
    answer = await bob.submit("/account/second-factor", {"setup": setup, "code": code_of(key), "current": PASSWORD})
    assert answer.status_code == 409
    assert (await user_of(database, "bob")).totp_secret == before


async def test_switching_it_off_wants_the_password(
    bob: Browser, visitor: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "bob")
    await give_second_factor(parts, "bob")
    assert (await bob.submit("/account/second-factor/off", {"current": "wrong"})).status_code == 422
    assert (await submit_sign_in(visitor, "bob")).status_code == 422
    assert (await bob.submit("/account/second-factor/off", {"current": PASSWORD})).status_code == 303
    assert (await submit_sign_in(visitor, "bob")).status_code == 303
    assert "user.drop_second_factor" in await acts(database)


def test_a_code_counts_half_a_minute_before_and_after_its_time() -> None:
    secret = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    now = datetime(2026, 11, 21, 12, 0, 10, tzinfo=UTC)
    this = int(now.timestamp()) // 30
    for step in range(-3, 4):
        code = pyotp.TOTP(secret.reveal()).at((this + step) * 30)
        assert second_factor.step_of(secret, code, now) == (this + step if abs(step) <= 1 else None)


async def test_end_the_others_ends_all_but_this_one(sign_in: SignIn, database: Database) -> None:
    here, elsewhere, somebody = await sign_in("bob"), await sign_in("bob"), await sign_in("vera")
    await here.submit("/account/sessions/end-others")
    assert (await here.get("/account")).status_code == 200
    assert (await elsewhere.get("/account")).status_code == 303
    assert (await somebody.get("/account")).status_code == 200
    assert await acts(database) == ["user.sign_out"]


async def test_one_session_can_be_ended_by_itself_but_no_other_persons(sign_in: SignIn, database: Database) -> None:
    here, elsewhere, somebody = await sign_in("bob"), await sign_in("bob"), await sign_in("vera")
    numbers = {}
    async with database.shared_transaction() as db:
        rows = await db.execute(select(Session.public_id, Session.user_id).order_by(Session.public_id))
        numbers = {row.public_id: row.user_id for row in rows}
    bob_id, vera_id = await user_id_of(database, "bob"), await user_id_of(database, "vera")
    own, other = [number for number, owner in numbers.items() if owner == bob_id]
    foreign = next(number for number, owner in numbers.items() if owner == vera_id)
    assert (await here.submit(f"/account/sessions/{foreign}/end")).status_code == 404
    assert (await here.submit(f"/account/sessions/{own}/end")).status_code == 404  # that is what signing out is for
    assert (await here.submit(f"/account/sessions/{other}/end")).status_code == 303
    assert (await elsewhere.get("/account")).status_code == 303
    assert (await somebody.get("/account")).status_code == 200


async def test_sessions_that_are_over_are_not_listed(sign_in: SignIn, database: Database) -> None:
    here, _ = await sign_in("bob"), await sign_in("bob")
    assert (await here.get("/account")).text.count('/end"') == 1
    async with database.shared_transaction() as db:
        latest = select(func.max(Session.public_id)).scalar_subquery()
        idle = datetime.now(UTC) - timedelta(minutes=31)
        await db.execute(update(Session).where(Session.public_id == latest).values(last_seen_at=idle))
    assert (await here.get("/account")).text.count('/end"') == 0


@pytest.mark.parametrize(
    ("user_agent", "said"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36 Edg/142.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on macOS"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.5.0", "curl"),
        ("tests", "tests"),
        ("", "Unknown browser"),
    ],
)  # fmt: skip
def test_a_browser_is_named_so_that_one_knows_it_again(user_agent: str, said: str) -> None:
    assert described(user_agent) == said


async def make_token(browser: Browser, **changed: Any) -> str:
    data = {"name": "Payroll", "scopes": ["clock:read"], "life": "30", **changed}
    answer = await browser.submit("/account/tokens/new", data, follow_redirects=True)
    assert answer.status_code == 200, answer.text
    found = TOKEN.search(answer.text)
    assert found
    return found[0]


async def test_a_token_is_shown_once_works_and_stops_when_it_is_revoked(
    bob: Browser, visitor: Browser, database: Database
) -> None:
    text = await make_token(bob)
    assert text not in (await bob.get("/account")).text
    assert f"…{text[-4:]}" in (await bob.get("/account")).text
    assert text not in await everything_audited(database)
    bearer = {"Authorization": f"Bearer {text}"}
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 200
    async with database.shared_transaction() as db:
        row = (await db.execute(select(ApiToken.id, ApiToken.token_hash, ApiToken.expires_at))).one()
    assert text.encode() not in row.token_hash
    assert timedelta(days=29, hours=23) < row.expires_at - datetime.now(UTC) <= timedelta(days=30)
    assert (await bob.submit(f"/account/tokens/{row.id}/revoke")).status_code == 303
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 401
    assert await acts(database) == ["token.create", "token.revoke"]


async def test_the_account_says_who_made_each_token(bob: Browser, database: Database) -> None:
    await make_token(bob, name="Own")
    async with database.transaction() as db:
        bob_id = await user_id_of(database, "bob")
        await tokens.create(db, Actor(await user_id_of(database, "alice"), "Alice Ahn"), bob_id, ["me"], name="Alice's")
        await tokens.create(db, COMMAND_LINE, bob_id, ["me"], name="Installed")
        await tokens.create(db, COMMAND_LINE, bob_id, ["me"], name="From before")
        await db.execute(update(ApiToken).where(ApiToken.name == "From before").values(made_by=None))
    page = re.sub(r"<[^>]+>", "", (await bob.get("/account")).text)
    now = datetime.now(UTC)
    today = f"{now:%a} {now.day} {now:%b}"
    for words in (f"by you on {today}", f"by Alice Ahn on {today}", f"by a command on the server on {today}"):
        assert words in page
    assert f"{today}, by whom is not known" in page


async def test_a_token_may_be_made_without_an_end(bob: Browser, database: Database) -> None:
    await make_token(bob, life="never")
    async with database.shared_transaction() as db:
        assert (await db.execute(select(ApiToken.expires_at))).scalar_one() is None


async def test_an_expired_token_is_refused(bob: Browser, visitor: Browser, database: Database) -> None:
    bearer = {"Authorization": f"Bearer {await make_token(bob)}"}
    async with database.shared_transaction() as db:
        await db.execute(update(ApiToken).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert (await visitor.get("/api/v1/clock/status", headers=bearer)).status_code == 401


async def test_scopes_that_would_do_nothing_for_a_person_are_not_offered(sign_in: SignIn, alice: Browser) -> None:
    nora, eve = await sign_in("nora"), await sign_in("eve")
    offered = {
        short: set(re.findall(r'name="scopes" value="([^"]+)"', (await browser.get("/account/tokens/new")).text))
        for short, browser in {"nora": nora, "alice": alice, "eve": eve}.items()
    }
    assert offered == {
        "nora": {"me"},
        "alice": {"clock:read", "attendance:read", "surveys:read", "problems:read", "me", "metrics:read"},
        "eve": {"clock:read", "attendance:read", "surveys:read", "problems:read", "me"},
    }
    refused = await nora.submit("/account/tokens/new", {"name": "x", "scopes": ["clock:read"], "life": "30"})
    assert refused.status_code == 422


@pytest.mark.parametrize("wrong", [{"name": ""}, {"scopes": []}, {"scopes": ["everything"]}, {"life": "31"}])
async def test_what_is_wrong_with_a_token_makes_none(bob: Browser, database: Database, wrong: dict[str, Any]) -> None:
    data = {"name": "Payroll", "scopes": ["clock:read"], "life": "30", **wrong}
    assert (await bob.submit("/account/tokens/new", data)).status_code == 422
    async with database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(ApiToken)) == 0


async def test_no_person_revokes_another_persons_token_from_their_account(
    alice: Browser, bob: Browser, database: Database
) -> None:
    await make_token(bob)
    async with database.shared_transaction() as db:
        token_id = (await db.scalars(select(ApiToken.id))).one()
    assert (await alice.get(f"/account/tokens/{token_id}/revoke")).status_code == 404
    assert (await alice.submit(f"/account/tokens/{token_id}/revoke")).status_code == 404
    async with database.shared_transaction() as db:
        assert (await db.execute(select(ApiToken.revoked_at))).scalar_one() is None


@pytest.mark.parametrize("path", ["/account/password", "/account/second-factor", "/account/tokens/new"])
async def test_htmx_gets_the_drawer_alone(bob: Browser, path: str) -> None:
    answer = await bob.fragment(path)
    assert "<html" not in answer.text
    assert "drawer-page" in answer.text


async def test_nothing_that_was_typed_in_secret_reaches_the_log(
    bob: Browser, database: Database, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    await give_password(database, "bob")
    with caplog.at_level(0):
        setup, key = await begin_setup(bob)
        await bob.submit("/account/second-factor", {"setup": setup, "code": wrong_code(key), "current": PASSWORD})
        await bob.submit("/account/password", {**CHANGE, "current": "guess-4711"})
        text = await make_token(bob)
    said = caplog.text + "".join(capsys.readouterr())
    for secret in (PASSWORD, ANOTHER, key, "guess-4711", text):
        assert secret not in said


async def test_the_second_factor_is_scanned_dark_on_light(alice: Browser) -> None:
    page = (await alice.get("/account/second-factor")).text
    drawn = page.partition('<div class="qr">')[2].partition("</div>")[0]
    address = unescape(re.findall(r">(otpauth://[^<]+)<", page)[0])
    lines = re.findall(r' d="([^"]+)"', segno.make(address, micro=False).svg_inline(border=4))[-1]
    assert f'd="{lines}"' in drawn
    assert 'fill="#fff"' in drawn
    assert 'stroke="#000"' in drawn
    assert "<title>QR code with the key</title>" in drawn
    assert "style=" not in drawn


async def recovery_codes(browser: Browser) -> list[str]:
    answer = await browser.submit("/account/second-factor/recovery", {"current": PASSWORD}, follow_redirects=True)
    assert answer.headers["cache-control"] == "no-store, no-transform"
    return CODES.findall(answer.text)


async def test_ten_recovery_codes_are_shown_once_and_kept_as_hashes(bob: Browser, database: Database) -> None:
    await give_password(database, "bob")
    setup, key = await begin_setup(bob)
    given = {"setup": setup, "code": code_of(key), "current": PASSWORD}
    answer = await bob.submit("/account/second-factor", given, follow_redirects=True)
    codes = CODES.findall(answer.text)
    assert len(set(codes)) == len(codes) == 10
    assert answer.headers["cache-control"] == "no-store, no-transform"
    stored = (await user_of(database, "bob")).recovery_codes
    assert len(stored) == 10
    audited = await everything_audited(database)
    for code in codes:
        assert code not in audited
        assert not {code, code.replace("-", "")} & set(stored)
    assert CODES.findall((await bob.get("/account")).text) == []


async def test_a_recovery_code_signs_in_once_however_it_is_typed(
    bob: Browser, visitor: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "bob")
    await give_second_factor(parts, "bob")
    first, second, *_ = await recovery_codes(bob)
    assert (await submit_sign_in(visitor, "bob", otp=first)).status_code == 303
    visitor.cookies.clear()
    again = await submit_sign_in(visitor, "bob", otp=first)
    assert (again.status_code, "it was used already" in again.text) == (422, True)
    typed = f" {second.lower().replace('-', ' ')} "
    assert (await submit_sign_in(visitor, "bob", otp=typed)).status_code == 303
    assert "8 of 10 left" in (await bob.get("/account")).text
    assert (await acts(database)).count("user.use_recovery_code") == 2


async def test_of_two_who_send_the_same_code_one_comes_in(bob: Browser, parts: Parts, database: Database) -> None:
    await give_password(database, "bob")
    await give_second_factor(parts, "bob")
    code = (await recovery_codes(bob))[0]
    user = await user_of(database, "bob")
    tries = [second_factor.use_code(database, parts.keys, user, code) for _ in range(4)]
    assert sorted(await asyncio.gather(*tries)) == [False, False, False, True]


async def test_a_recovery_code_belongs_to_its_person_and_ends_with_the_second_factor(
    bob: Browser, visitor: Browser, parts: Parts, database: Database
) -> None:
    for short in ("bob", "vera"):
        await give_password(database, short)
        await give_second_factor(parts, short)
    old = await recovery_codes(bob)
    assert (await submit_sign_in(visitor, "vera", otp=old[0])).status_code == 422
    new = await recovery_codes(bob)
    assert (await submit_sign_in(visitor, "bob", otp=old[0])).status_code == 422
    await bob.submit("/account/second-factor/off", {"current": PASSWORD})
    assert (await user_of(database, "bob")).recovery_codes == []
    await give_second_factor(parts, "bob")
    assert (await submit_sign_in(visitor, "bob", otp=new[0])).status_code == 422


async def test_wrong_recovery_codes_count_towards_the_lock(
    bob: Browser, visitor: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "bob")
    await give_second_factor(parts, "bob")
    right = (await recovery_codes(bob))[0]
    for _ in range(5):
        await submit_sign_in(visitor, "bob", otp="ABCD-EFGH-IJKL-MNOP")
    assert (await submit_sign_in(visitor, "bob", otp=right)).status_code == 422
    assert len((await user_of(database, "bob")).recovery_codes) == 10


async def test_new_codes_want_the_password_and_a_second_factor(bob: Browser, parts: Parts, database: Database) -> None:
    await give_password(database, "bob")
    assert (await bob.submit("/account/second-factor/recovery", {"current": PASSWORD})).status_code == 409
    await give_second_factor(parts, "bob")
    assert "None: make some" in (await bob.get("/account")).text
    assert (await bob.submit("/account/second-factor/recovery", {"current": "wrong"})).status_code == 422
    assert (await user_of(database, "bob")).recovery_codes == []


async def test_each_form_with_a_field_has_a_name(bob: Browser) -> None:
    text = (await bob.get("/account")).text
    assert 'action="/preferences/keys"' in text
    assert unnamed_forms(text) == []


async def test_a_person_chooses_the_language_in_which_they_are_asked(bob: Browser, database: Database) -> None:
    page = (await bob.get("/account")).text
    assert '<option value="ar" lang="ar" dir="rtl">العربية</option>' in page
    await bob.submit("/preferences/language", {"language": "ar"})
    assert (await user_of(database, "bob")).language == "ar"
    assert '<option value="ar" lang="ar" dir="rtl" selected>العربية</option>' in (await bob.get("/account")).text
    refused = await bob.submit("/preferences/language", {"language": "xx"})
    assert refused.status_code == 422
    assert (await user_of(database, "bob")).language == "ar"
    await bob.submit("/preferences/language", {"language": ""})
    assert (await user_of(database, "bob")).language is None


async def test_the_account_speaks_the_language_of_the_person_and_the_rest_of_the_portal_english(
    sign_in: SignIn,
) -> None:
    nora = await sign_in("nora")
    in_german = {"Accept-Language": "de"}
    shown = (await nora.get("/account", headers=in_german)).text
    assert "Wo Sie angemeldet sind" in shown
    assert "Where you are signed in" not in shown
    refused = await nora.submit("/account/password", {"current": "wrong", "password": "kurz"}, headers=in_german)
    assert "Mindestens 12 Zeichen." in refused.text
    ended = await nora.submit("/account/sessions/end-others", headers=in_german)
    assert ended.headers["location"] == "/account"
    assert "Sie sind sonst nirgends angemeldet." in (await nora.get("/account", headers=in_german)).text
    assert "Help" in (await nora.get("/help", headers=in_german)).text


async def test_a_token_is_made_and_revoked_in_the_language_of_the_person(sign_in: SignIn, database: Database) -> None:
    nora = await sign_in("nora")
    in_german = {"Accept-Language": "de"}
    form = (await nora.get("/account/tokens/new", headers=in_german)).text
    for told in (
        "Es wird einmal angezeigt",
        "In einer App für den Besitzer handeln (me)",
        "Nie: bis es widerrufen wird",
    ):
        assert told in form
    for told in ("Make", "Expires", "Name *", "owner"):
        assert told not in form.partition("<main")[2].partition("</main")[0]
    refused = await nora.submit("/account/tokens/new", {"name": "", "life": "30"}, headers=in_german)
    assert "Wählen Sie mindestens eines." in refused.text
    wanted = {"name": "App", "scopes": ["me"], "life": "30"}
    await nora.submit("/account/tokens/new", wanted, headers=in_german)
    made = await nora.get("/account/tokens/made", headers=in_german)
    assert "Nur dieses eine Mal zu sehen" in made.text
    async with database.transaction() as db:
        token_id = await db.scalar(select(ApiToken.id).order_by(ApiToken.id.desc()))
    question = (await nora.get(f"/account/tokens/{token_id}/revoke", headers=in_german)).text
    for told in ("Das Token App von Nora", "Es wurde nie verwendet.", "Token widerrufen", ">Abbrechen</a>"):
        assert told in question
    await nora.submit(f"/account/tokens/{token_id}/revoke", headers=in_german)
    assert "Das Token wurde widerrufen." in (await nora.get("/account", headers=in_german)).text
