"""Every fault visibly does what its line in the table says: one check each, over real HTTP."""

import asyncio
import gzip
import json
import re
import time
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise

import httpx
import pytest

from app.simulator import FAULTS, UnknownFault
from app.simulator.faults import read_fault
from tests.simulator.visitor import Visitor, unwrap, visiting

CHECKS = {}


def shows(*faults, profile="cloud"):
    """Register a check of the fault (or faults) it is given, which are switched on before the client signs in."""

    def register(check):
        CHECKS.setdefault(check.__name__, (faults, profile, check))
        return check

    return register


# --- paging and selection ---------------------------------------------------------------------------------------------


@shows("page_cap_50")
async def a_page_holds_fifty_rows(visitor):
    rows, total = await visitor.page("transactions", page_size=500)
    assert len(rows) == 50 < total
    assert len({row["id"] for row in await visitor.walk("transactions", size=500)}) == total


@shows("page_cap_50=7", profile="onprem")
async def a_page_holds_seven_rows(visitor):
    assert len((await visitor.page("employees", page_size=500))[0]) == 7


@shows("unstable_paging")
async def one_walk_loses_what_the_next_one_has(visitor):
    walks = [await whole_walk(visitor) for _ in range(4)]
    (total,) = {total for _, total in walks}
    assert all(len(ids) < total for ids, _ in walks)
    assert all(len(one | other) == total for (one, _), (other, _) in pairwise(walks))


async def whole_walk(visitor):
    first, total = await visitor.page("transactions", page=1, page_size=50)
    ids = {row["id"] for row in first}
    for page in range(2, -(-total // 50) + 1):
        ids |= {row["id"] for row in (await visitor.page("transactions", page=page, page_size=50))[0]}
    return ids, total


@shows("inserts_while_paging=2")
async def rows_repeat_because_others_came_in_front(visitor):
    first, total = await visitor.page("transactions", page=1, page_size=20)
    second, more = await visitor.page("transactions", page=2, page_size=20)
    assert more == total + 2
    assert [row["id"] for row in second[:2]] == [row["id"] for row in first[-2:]]


@shows("newest_first")
async def the_newest_punch_comes_first_and_shifts_every_page(visitor):
    first, total = await visitor.page("transactions", page=1, page_size=20)
    times = [row["punch_time"] for row in first]
    assert times == sorted(times, reverse=True)
    visitor.simulator.world.punch(0, 0, visitor.simulator.world.now, 0)
    again, more = await visitor.page("transactions", page=1, page_size=20)
    assert (more, again[1:]) == (total + 1, first[:-1])


@shows("newest_first", "inserts_while_paging")
async def arrivals_stand_at_the_front_of_a_list_that_begins_with_the_newest(visitor):
    first, total = await visitor.page("transactions", page=1, page_size=20)
    second, more = await visitor.page("transactions", page=2, page_size=20)
    assert (more, second[0]) == (total + 1, first[-1])


@shows("page_repeats")
async def the_second_page_is_the_first(visitor):
    first, _ = await visitor.page("transactions", page=1)
    assert (await visitor.page("transactions", page=2))[0] == first


@shows("page_beyond_404", profile="onprem")
async def a_page_after_the_last_is_not_found(visitor):
    assert (await visitor.get("employees", page=99)).status_code == 404


@shows("page_size_ignored", profile="onprem")
async def only_the_limit_counts(visitor):
    assert len((await visitor.page("transactions", page_size=40))[0]) == 10
    assert len((await visitor.page("transactions", page_size=40, limit=40))[0]) == 40


@shows("total_off=3")
async def the_total_promises_more_than_there_is(visitor):
    assert (await visitor.page("employees", page_size=100))[1] == 43


@shows("filter_utc")
async def the_window_is_read_as_utc(visitor):
    everything = await visitor.walk("transactions", size=500)
    first = everything[0]["punch_time"]
    later, _ = await visitor.page("transactions", start_time=first)
    ahead = datetime.fromisoformat(later[0]["punch_time"]) - datetime.fromisoformat(first)
    assert ahead >= timedelta(hours=1)


@shows("bounds_excluded")
async def a_punch_at_the_bound_is_left_out(visitor):
    rows, _ = await visitor.page("transactions")
    bounds = {"start_time": rows[3]["punch_time"], "end_time": rows[9]["punch_time"]}
    inside, _ = await visitor.page("transactions", **bounds)
    assert [row["id"] for row in inside] == [row["id"] for row in rows[4:9]]


@shows("filter_ignored")
async def every_window_holds_everything(visitor):
    _, total = await visitor.page("transactions")
    assert (await visitor.page("transactions", start_time="2025-03-12 00:00:00"))[1] == total


@shows("next_internal", profile="onprem")
async def next_names_an_internal_host(visitor):
    assert "10.8.0.3" in (await visitor.get("employees")).json()["next"]


@shows("next_null", profile="onprem")
async def next_is_a_string_that_says_null(visitor):
    assert (await visitor.get("employees")).json()["next"] == "null"


@shows("empty_list")
async def nobody_is_listed_though_all_is_well(visitor):
    assert await visitor.page("employees") == ([], 0)
    assert (await visitor.page("transactions"))[1] > 0


@shows("half_list")
async def half_of_them_are_listed(visitor):
    assert (await visitor.page("employees"))[1] == 20


@shows("resigned_leave=5")
async def five_people_are_gone_and_come_back(visitor):
    assert (await visitor.page("employees"))[1] == 35
    await visitor.faults()
    assert (await visitor.page("employees"))[1] == 40


@shows("silent_feed")
async def nothing_new_shows_up(visitor):
    before = await visitor.page("transactions")
    await visitor.control("advance", seconds=86400)
    assert await visitor.page("transactions") == before
    await visitor.faults()
    assert (await visitor.page("transactions"))[1] > before[1]


@shows("silent_feed=48")
async def the_last_two_days_are_missing(visitor):
    rows = await visitor.walk("transactions", size=500)
    assert max(row["upload_time"] for row in rows) <= "2025-03-10 16:30:00"


# --- punches and clocks -----------------------------------------------------------------------------------------------


@shows("late_upload=9")
async def old_punches_arrive_today(visitor):
    rows = await visitor.walk("transactions", size=500)
    late = [row for row in rows if row["upload_time"] == "2025-03-12 16:30:00"]
    assert len(late) == 9
    assert all(row["punch_time"] < "2025-03-10 16:30:00" for row in late)


@shows("lower_ids", profile="onprem")
async def new_punches_have_lower_ids(visitor):
    rows = await visitor.walk("transactions", size=500)
    newest = sorted(rows, key=lambda row: row["upload_time"])[-12:]
    assert max(row["id"] for row in newest) < min(row["id"] for row in rows if row not in newest)


@shows("double_rows")
async def one_tap_is_there_under_two_ids(visitor):
    rows = await visitor.walk("transactions", size=500)
    taps = Counter((row["emp_code"], row["punch_time"], row["terminal_sn"]) for row in rows)
    assert sum(count > 1 for count in taps.values()) >= 30
    assert len({row["id"] for row in rows}) == len(rows)


def skew(row):
    return datetime.fromisoformat(row["punch_time"]) - datetime.fromisoformat(row["upload_time"])


async def skews_of_the_first_terminal(visitor):
    serial = visitor.simulator.world.terminals[0].serial
    rows = await visitor.walk("transactions", size=500, terminal_sn=serial)
    return sorted(skew(row) for row in rows)


@shows("clock_fast_34m")
async def the_clock_is_half_an_hour_fast(visitor):
    skews = await skews_of_the_first_terminal(visitor)
    assert timedelta(minutes=33) < skews[len(skews) // 2] < timedelta(minutes=34)


@shows("clock_off_17h")
async def the_clock_is_seventeen_hours_slow(visitor):
    skews = await skews_of_the_first_terminal(visitor)
    assert -timedelta(hours=17, minutes=1) < skews[len(skews) // 2] < -timedelta(hours=17)


@shows("clock_wrong_year")
async def the_clock_is_in_the_next_year(visitor):
    skews = await skews_of_the_first_terminal(visitor)
    assert timedelta(days=364) < skews[len(skews) // 2] < timedelta(days=365)


@shows("ids_restart", profile="onprem")
async def old_ids_mean_other_punches(visitor):
    await visitor.faults()
    before = {row["id"]: row["emp_code"] for row in await visitor.walk("transactions", size=500)}
    await visitor.faults("ids_restart")
    after = {row["id"]: row["emp_code"] for row in await visitor.walk("transactions", size=500)}
    assert before.keys() == after.keys()
    assert sum(before[one] != after[one] for one in before) > len(before) / 2


# --- how rows are written ---------------------------------------------------------------------------------------------


@shows("leading_zeros")
async def codes_are_padded(visitor):
    people, _ = await visitor.page("employees")
    punches, _ = await visitor.page("transactions")
    assert {len(row["emp_code"]) for row in people + punches} == {9}
    code = punches[0]["emp_code"]
    assert {row["emp_code"] for row in await visitor.walk("transactions", emp_code=code)} == {code}


@shows("trailing_space_dates")
async def dates_end_in_a_space(visitor):
    people, _ = await visitor.page("employees")
    punches, _ = await visitor.page("transactions")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d ", row["hire_date"]) for row in people)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", row["punch_time"]) for row in punches)


@shows("us_dates")
async def dates_begin_with_the_month(visitor):
    people, _ = await visitor.page("employees")
    punches, _ = await visitor.page("transactions")
    assert all(datetime.strptime(row["hire_date"], "%m/%d/%Y") for row in people)
    assert all(datetime.strptime(row["punch_time"], "%m/%d/%Y %H:%M:%S") for row in punches)


@shows("iso_offset_dates")
async def times_carry_an_offset(visitor):
    visitor.http.headers["Timezone"] = "America/New_York"
    punches, _ = await visitor.page("transactions", start_time="2025-03-12 00:00:00")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-0400", row["upload_time"]) for row in punches)


@shows("text_verify")
async def the_verify_type_is_text(visitor):
    punches, _ = await visitor.page("transactions")
    assert {type(row["verify_type"]) for row in punches} == {str}


@shows("door_punches")
async def some_punches_say_that_they_are_not_for_attendance(visitor):
    punches, _ = await visitor.page("transactions")
    assert {row.get("is_attendance") for row in punches} == {False, None}


@shows("no_display")
async def the_code_has_no_name(visitor):
    punches, _ = await visitor.page("transactions")
    assert {row["punch_state_display"] for row in punches} == {None}


@shows("parent_ids")
async def parents_are_named_by_their_ids(visitor):
    units, _ = await visitor.page("departments", page_size=50)
    ids = {row["id"] for row in units}
    assert {row["parent_dept"] for row in units} <= {None, *ids}
    assert any(row["parent_dept"] for row in units)


@shows("visible_palms")
async def palms_are_known_by_what_a_camera_sees(visitor):
    people, _ = await visitor.page("employees", page_size=50)
    assert {row["palm"] for row in people} == {"-"}
    assert {row["vl_palm"] for row in people} == {"-", "Ver 12:1"}


@shows("ninth_generation", profile="onprem")
async def the_ninth_generation_keeps_attendance_elsewhere(visitor):
    people, _ = await visitor.page("employees", limit=40)
    assert {row["attemployee"]["enable_attendance"] for row in people} >= {True}
    assert not any({"enable_att", "self_password"} & row.keys() for row in people)


@shows("results_envelope", profile="onprem")
async def the_rows_are_called_results(visitor):
    body = (await visitor.get("employees")).json()
    assert "data" not in body
    assert len(body["results"]) == 10


# --- signing in and tokens --------------------------------------------------------------------------------------------


@shows("signin_400", profile="onprem")
async def sign_in_is_a_bare_bad_request(visitor):
    answer = await visitor.sign_in()
    assert (answer.status_code, answer.content) == (400, b"")


@shows("signin_401")
async def sign_in_is_unauthorised(visitor):
    assert (await visitor.sign_in()).status_code == 401


@shows("signin_403")
async def sign_in_is_forbidden(visitor):
    assert (await visitor.sign_in()).status_code == 403


@shows("signin_code")
async def sign_in_fails_with_two_hundred(visitor):
    answer = await visitor.sign_in()
    assert (answer.status_code, answer.json()["code"]) == (200, "ZBSY0005")


@shows("signin_no_token")
async def sign_in_gives_no_token(visitor):
    assert "access" not in (await visitor.sign_in()).json()["data"]
    assert (await visitor.get("employees")).status_code == 401


@shows("token_name=accessToken")
async def the_token_has_another_name(visitor):
    data = (await visitor.sign_in()).json()["data"]
    assert "accessToken" in data
    assert "access" not in data


@shows("expires_in=1")
async def tokens_are_short_lived(visitor):
    assert (await visitor.sign_in()).json()["data"]["expires_in"] == 1
    assert (await visitor.get("employees")).status_code == 200
    await asyncio.sleep(1.1)
    assert (await visitor.get("employees")).status_code == 401
    assert (await visitor.renew()).status_code == 200
    assert (await visitor.get("employees")).status_code == 200


@shows("no_expires_in")
async def only_the_token_knows_its_end(visitor):
    data = (await visitor.sign_in()).json()["data"]
    assert "expires_in" not in data
    claims = json.loads(decode_part(data["access"].split(".")[1]))
    assert claims["exp"] - claims["iat"] == 86400


def decode_part(text):
    import base64

    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@shows("opaque_token")
async def the_token_says_nothing(visitor):
    data = (await visitor.sign_in()).json()["data"]
    assert "." not in data["access"]
    assert "expires_in" not in data
    assert (await visitor.get("employees")).status_code == 200


@shows("token_dies=2")
async def the_token_dies_and_can_be_renewed(visitor):
    assert [(await visitor.get("employees")).status_code for _ in range(4)] == [200, 200, 401, 401]
    assert (await visitor.renew()).status_code == 200
    assert (await visitor.get("employees")).status_code == 200


@shows("token_refused")
async def no_token_is_good_enough(visitor):
    assert (await visitor.get("employees")).status_code == 401
    await visitor.renew()
    assert (await visitor.get("employees")).status_code == 401


@shows("parallel_signin=1")
async def somebody_else_took_the_session(visitor):
    assert [(await visitor.get("employees")).status_code for _ in range(2)] == [200, 401]
    assert (await visitor.renew()).status_code == 401
    await visitor.sign_in()
    assert (await visitor.get("employees")).status_code == 200


@shows("refresh_refused")
async def tokens_are_not_renewed(visitor):
    assert (await visitor.renew()).status_code == 401


@shows("auth_401_as_500")
async def who_is_not_signed_in_gets_a_server_error(visitor):
    assert (await visitor.get("employees")).status_code == 200
    visitor.http.headers["Authorization"] = ""
    assert (await visitor.get("employees")).status_code == 500


@shows("expired_as_500")
async def who_is_not_signed_in_reads_that_a_token_expired(visitor):
    visitor.http.headers["Authorization"] = ""
    answer = await visitor.get("employees")
    assert (answer.status_code, "ExpiredSignature" in answer.text) == (500, True)


@shows("body_401")
async def not_signed_in_comes_with_two_hundred(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, answer.json()["code"]) == (200, "ZBSY0002")


# --- refusals ---------------------------------------------------------------------------------------------------------


@shows("http_500=2")
async def the_first_two_calls_fail(visitor):
    assert [(await visitor.get("employees")).status_code for _ in range(3)] == [500, 500, 200]


@shows("http_400")
async def a_bad_request_without_reason(visitor):
    assert (await visitor.get("employees")).status_code == 400


@shows("http_503_retry_after=9")
async def the_service_asks_for_patience(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "9")


@shows("http_429=Wed, 12 Mar 2025 16:00:00 GMT")
async def too_many_requests_until_a_date(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "Wed, 12 Mar 2025 16:00:00 GMT")


@shows("http_429=none")
async def too_many_requests_without_a_word(visitor):
    assert "retry-after" not in (await visitor.get("employees")).headers


@shows("body_code_failure")
async def a_failure_with_two_hundred(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, answer.json()["code"]) == (200, "ZBSY0099")


@shows("licence_403")
async def the_licence_has_run_out(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, "Licence" in answer.text) == (403, True)


@shows("nginx_405")
async def nginx_says_not_allowed(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, "nginx" in answer.text) == (405, True)


@shows("redirect=https://elsewhere.example/portal/,at=employees")
async def it_points_elsewhere(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, answer.headers["location"]) == (302, "https://elsewhere.example/portal/")


@shows("html_200")
async def a_sign_in_page_in_place_of_data(visitor):
    answer = await visitor.get("employees")
    assert answer.headers["content-type"].startswith("text/html")
    assert "Sign in" in answer.text


@shows("spa_shell")
async def an_empty_application_in_place_of_data(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, '<div id="app">' in answer.text) == (200, True)


@shows("http_204")
async def nothing_at_all(visitor):
    answer = await visitor.get("employees")
    assert (answer.status_code, answer.content) == (204, b"")


@shows("slow=0.3,at=employees")
async def it_takes_its_time(visitor):
    begun = time.perf_counter()
    assert (await visitor.get("employees")).status_code == 200
    assert time.perf_counter() - begun >= 0.3


# --- bodies -----------------------------------------------------------------------------------------------------------


@shows("not_json")
async def words_that_are_not_json(visitor):
    answer = await visitor.get("employees")
    assert answer.headers["content-type"] == "application/json"
    with pytest.raises(json.JSONDecodeError):
        answer.json()


@shows("wrong_content_type")
async def json_that_says_it_is_text(visitor):
    answer = await visitor.get("employees")
    assert answer.headers["content-type"] == "text/plain"
    assert answer.json()["code"] == "ZBSY0000"


@shows("nan")
async def a_number_that_is_none(visitor):
    assert b"NaN" in (await visitor.get("transactions")).content
    assert b"NaN" in (await visitor.get("employees")).content


@shows("duplicate_keys")
async def the_code_is_there_twice(visitor):
    pairs = json.loads((await visitor.get("employees")).content, object_pairs_hook=list)
    assert [name for name, _ in pairs].count("code") == 2


@shows("invalid_utf8")
async def bytes_that_are_no_text(visitor):
    with pytest.raises(UnicodeDecodeError):
        (await visitor.get("employees")).content.decode()


@shows("lone_surrogate")
async def half_of_a_character(visitor):
    rows, _ = await visitor.page("employees")
    with pytest.raises(UnicodeEncodeError):
        rows[0]["remark"].encode()


@shows("missing_list")
async def the_list_is_missing(visitor):
    assert "data" not in (await visitor.get("employees")).json()["data"]


@shows("wrong_types")
async def nothing_has_the_type_it_should_have(visitor):
    data = (await visitor.get("employees")).json()["data"]
    assert (type(data["data"]), type(data["total"])) == (dict, str)


@shows("bad_row")
async def one_row_has_no_time(visitor):
    rows, _ = await visitor.page("transactions")
    assert rows[0]["punch_time"] == "yesterday, about nine"
    assert all(datetime.fromisoformat(row["punch_time"]) for row in rows[1:])


@shows("bad_row=code")
async def one_row_has_no_code(visitor):
    for resource, name in (("transactions", "emp_code"), ("devices", "sn"), ("areas", "area_code")):
        rows, _ = await visitor.page(resource)
        assert [row[name] is None for row in rows].count(True) == 1


@shows("bad_row=shape")
async def one_row_is_a_word(visitor):
    rows, _ = await visitor.page("transactions")
    assert [type(row) for row in rows[:2]] == [str, dict]


@shows("deep_json=500")
async def brackets_within_brackets(visitor):
    assert b"[" * 500 in (await visitor.get("employees")).content


@shows("gzip_bomb=20")
async def a_little_gzip_becomes_a_lot(visitor):
    async with visitor.http.stream("GET", visitor.profile.paths["employees"]) as answer:
        raw = b"".join([piece async for piece in answer.aiter_raw()])
    assert len(raw) < 100_000
    assert len(gzip.decompress(raw)) > 20_000_000


@shows("oversize=3")
async def a_body_that_is_too_large(visitor):
    assert len((await visitor.get("employees")).content) > 3_000_000


# --- transport --------------------------------------------------------------------------------------------------------


@shows("drip=0.02")
async def the_body_drips(visitor):
    pieces = []
    async with visitor.http.stream("GET", visitor.profile.paths["areas"]) as answer:
        async for piece in answer.aiter_raw():
            pieces.append(piece)
            if len(pieces) == 5:
                break
    assert all(len(piece) <= 3 for piece in pieces)


@shows("reset")
async def the_connection_is_reset(visitor):
    with pytest.raises(httpx.ReadError):
        await visitor.get("employees")


@shows("cut_body")
async def the_body_ends_too_soon(visitor):
    with pytest.raises(httpx.RemoteProtocolError, match=r"incomplete|without"):
        await visitor.get("employees")


@shows("cut_chunks")
async def the_last_chunk_never_comes(visitor):
    with pytest.raises(httpx.RemoteProtocolError, match=r"incomplete|without"):
        await visitor.get("employees")


@shows("broken_chunking")
async def a_chunk_has_no_length(visitor):
    with pytest.raises(httpx.RemoteProtocolError):
        await visitor.get("employees")


@shows("cut_gzip")
async def the_gzip_ends_too_soon(visitor):
    async with visitor.http.stream("GET", visitor.profile.paths["employees"]) as answer:
        raw = b"".join([piece async for piece in answer.aiter_raw()])
    with pytest.raises(EOFError):
        gzip.decompress(raw)


@shows("broken_gzip")
async def it_is_no_gzip(visitor):
    with pytest.raises(httpx.DecodingError):
        await visitor.get("employees")


# --- the table itself -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHECKS)
async def test_the_fault_does_what_it_says(name):
    faults, profile, check = CHECKS[name]
    async with visiting(profile, faults) as visitor:
        await check(visitor)


def test_every_fault_of_the_table_is_shown_by_a_check():
    checked = {read_fault(text).name for faults, _, _ in CHECKS.values() for text in faults}
    assert checked == set(FAULTS)


async def test_no_fault_but_the_one_asked_for_strikes():
    async with visiting("cloud", ["http_500,at=devices"]) as visitor:
        assert (await visitor.get("devices")).status_code == 500
        assert (await visitor.get("employees")).status_code == 200


async def test_a_fault_may_wait_and_may_end():
    async with visiting("cloud", ["reset,after=2,times=1,at=employees+devices"]) as visitor:
        assert (await visitor.get("employees")).status_code == 200
        assert (await visitor.get("devices")).status_code == 200
        with pytest.raises(httpx.ReadError):
            await visitor.get("employees")
        assert (await visitor.get("employees")).status_code == 200


async def test_faults_can_be_combined():
    async with visiting("onprem", ["page_cap_50=5", "us_dates", "next_null"]) as visitor:
        body = (await visitor.get("transactions", page_size=100)).json()
        assert (len(body["data"]), body["next"]) == (5, "null")
        assert re.match(r"\d\d/\d\d/\d{4} ", body["data"][0]["punch_time"])


LENGTHY = {"slow", "drip", "gzip_bomb", "oversize"}


@pytest.mark.parametrize("profile", ["cloud", "onprem"])
async def test_any_fault_may_strike_anywhere_and_the_server_stands(profile):
    everywhere = "sign_in+refresh+employees+areas+devices+transactions+photos"
    async with visiting(profile) as visitor:
        for name in sorted(FAULTS.keys() - LENGTHY):
            await visitor.faults(f"{name},at={everywhere}")
            statuses = [await status_of(call) for call in calls_of_every_kind(visitor)]
            assert (await visitor.http.get("/_control/state")).json()["faults"] == [f"{name},at={everywhere}"]
            if not name.startswith(("http_500", "auth_401")):
                assert 500 not in statuses, name


def calls_of_every_kind(visitor):
    yield visitor.http.get("/media/people/10001/")
    yield visitor.get("transactions", page=2, page_size=30)
    yield visitor.get("areas")
    yield visitor.get("devices")
    yield visitor.renew()
    yield visitor.sign_in()
    yield visitor.get("employees", page=2)


async def status_of(call):
    """0 where no answer could be read, which is what some faults are for."""
    try:
        return (await call).status_code
    except (httpx.TransportError, httpx.DecodingError, ValueError, AttributeError):
        return 0


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "slow=much",
        "http_500=often",
        "reset,at=cellar",
        "page_cap_50=1.5",
        "reset,after=soon",
        "drip=x",
        "bad_row=odd",
    ],
)
def test_a_fault_that_cannot_be_read_is_refused(text):
    with pytest.raises(UnknownFault):
        read_fault(text)


async def test_a_clock_that_goes_wrong_later_leaves_history_alone():
    async with visiting("cloud") as visitor:
        before = await visitor.walk("transactions", size=500)
        await visitor.faults("clock_wrong_year")
        assert await visitor.walk("transactions", size=500) == before
        await visitor.control("advance", seconds=86400)
        later = await visitor.walk("transactions", size=500, start_time="2026-01-01 00:00:00")
        assert later
        await visitor.faults()
        await visitor.control("advance", seconds=86400)
        assert await visitor.walk("transactions", size=500, start_time="2026-01-01 00:00:00") == later


async def test_calls_are_noted_without_the_token():
    async with visiting("cloud", ["page_cap_50"]) as visitor:
        await visitor.get("employees", page=1)
        noted = visitor.simulator.calls[-1]
        assert (noted.resource, noted.status, noted.struck) == ("employees", 200, ("page_cap_50",))
        assert noted.headers["authorization"] == "JWT"
        assert [call.resource for call in visitor.simulator.calls] == ["sign_in", "employees"]
        assert isinstance(visitor, Visitor)
        assert unwrap(await visitor.get("areas"))[1] == 5
