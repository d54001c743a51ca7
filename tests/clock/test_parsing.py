"""Rows to structs: kept exactly, read strictly, set aside with a reason."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock.parsing import (
    Enrolment,
    LocalTimes,
    ParsedDevice,
    ParsedEmployee,
    ParsedShift,
    Parser,
    Ref,
    TimeError,
    Unit,
    read_date,
)
from app.clock.profiles import CLOUD, ONPREM
from app.outbound import Redactor

MANILA, BERLIN, LORD_HOWE = ZoneInfo("Asia/Manila"), ZoneInfo("Europe/Berlin"), ZoneInfo("Australia/Lord_Howe")
PARSER = Parser(ONPREM, MANILA, Redactor(["hunter22222"]))

PUNCH: dict[str, Any] = {
    "id": 122723, "emp": 772, "emp_code": "10136", "first_name": "Ana", "last_name": None, "department": "Kitchen",
    "position": None, "punch_time": "2025-08-26 09:14:58", "punch_state": "255", "punch_state_display": "Unknown",
    "verify_type": 1, "verify_type_display": "Fingerprint", "work_code": "0", "gps_location": None, "area_alias": "North",
    "terminal_sn": "MFP3241700893", "temperature": 0.0, "is_mask": "No", "terminal_alias": "Gate",
    "upload_time": "2025-08-26 08:40:59",
}  # fmt: skip
EMPLOYEE: dict[str, Any] = {
    "id": 772, "emp_code": "0010136", "first_name": "Ana", "last_name": "Cruz",
    "department": {"id": 3, "dept_code": "K", "dept_name": "Kitchen"},
    "position": None, "area": [{"id": 1, "area_code": "N", "area_name": "North"}], "hire_date": "2024-02-29",
    "email": "ana@clock.example", "mobile": "+63 1", "card_no": "8812", "enable_att": True, "app_status": 0,
    "update_time": "2025-08-26 09:14:58", "fingerprint": "Ver 10:1", "face": "-", "palm": "-", "vl_face": "",
    "device_password": "123456", "self_password": "pbkdf2_sha256$1$x", "photo": "/media/people/0010136/",
}  # fmt: skip
DEVICE: dict[str, Any] = {
    "id": 4, "sn": "MFP3241700893", "ip_address": "10.0.0.9", "alias": "Gate", "terminal_name": "SpeedFace", "fw_ver": "1.2",
    "push_ver": "2.4.1", "state": 1, "terminal_tz": 8, "area": {"id": 1, "area_code": "N", "area_name": "North"},
    "last_activity": "2025-08-26 09:14:58", "user_count": 10, "fp_count": 9, "face_count": None, "palm_count": "3",
    "transaction_count": 700, "is_attendance": 1,
}  # fmt: skip


def punch(**changes: Any) -> Any:
    parsed = PARSER.punches([{**PUNCH, **changes}])
    assert parsed.set_aside == []
    return parsed.rows[0]


def reason(**changes: Any) -> str:
    parsed = PARSER.punches([{**PUNCH, **changes}])
    assert parsed.rows == []
    return parsed.set_aside[0].reason


@pytest.mark.parametrize("said", [False, 0, "0", "false", " No "])
def test_a_punch_that_is_not_for_attendance_says_so(said: Any) -> None:
    assert punch(is_attendance=said).is_attendance is False


@pytest.mark.parametrize("said", [None, True, 1, "1", "", "perhaps", 2, [0], {"no": 1}])
def test_any_other_word_about_attendance_leaves_the_punch_as_it_is(said: Any) -> None:
    assert punch(is_attendance=said).is_attendance is None


@pytest.mark.parametrize(
    ("said", "kept"),
    [(8, "8"), (-5, "-5"), ("+08:00", "+08:00"), (" Asia/Manila ", "Asia/Manila"), (None, None), ("", None), (True, None),
     (5.5, None), ("x" * 65, None), ("a\0b", None), ([8], None), ({"id": {}}, None)],
)  # fmt: skip
def test_a_terminals_time_zone_is_kept_as_it_is_written_and_costs_no_row(said: Any, kept: str | None) -> None:
    (terminal,) = PARSER.devices([DEVICE | {"terminal_tz": said}]).rows
    assert terminal.terminal_tz == kept


# Times.


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("2025-01-31 09:14:58", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-31 09:14:58 ", datetime(2025, 1, 31, 9, 14, 58)),
        (" 2025-01-31 09:14:58", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-31T09:14:58", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-31 09:14:58.5", datetime(2025, 1, 31, 9, 14, 58, 500_000)),
        ("2025-01-31 09:14:58.000123", datetime(2025, 1, 31, 9, 14, 58, 123)),
        ("01/31/2025 09:14:58", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-31T09:14:58+08:00", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-31T09:14:58+0800", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-31T01:14:58Z", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-30 21:14:58-0400", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-30T21:14:58 -04:00", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-31T06:44:58+05:30", datetime(2025, 1, 31, 9, 14, 58)),
        ("2025-01-31T19:14:58+18:00", datetime(2025, 1, 31, 9, 14, 58)),
        ("2099-12-31 23:59:59", datetime(2099, 12, 31, 23, 59, 59)),
        ("1900-01-01 00:00:00", datetime(1900, 1, 1)),
    ],
)
def test_every_format_seen_is_read(text: str, local: datetime) -> None:
    read_local, instant = LocalTimes(MANILA).read(text)
    assert read_local == local
    assert instant == local.replace(tzinfo=MANILA)
    assert instant.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    ["", " ", "now", "2025-01-31", "2025-01-31 ", "2025-13-01 00:00:00", "2025-02-30 00:00:00", "31/01/2025 09:14:58",
     "2025-01-31 24:00:00", "2025-01-31 09:60:00", "2025-01-31 09:14:60", "2025-01-31 9:14:58", "2025/01/31 09:14:58",
     "20250131 091458", "2025-W05-5 09:14:58", "2025-01-31 09:14", "2025-01-31 09-14-58", "2025-01-31_09:14:58",
     "٢٠٢٥-01-31 09:14:58", "1899-12-31 23:59:59", "0001-01-01 00:00:00", "9999-12-31 23:59:59", "2025-01-31 09:14:58+25:00",
     "2025-01-31 09:14:58+18:01", "01/31/2025 24:00:00",
     "2025-01-31 09:14:58 PM", "2025-01-31T09:14:58.1234567", "1738286098", "\t2025-01-31 09:14:58", "2025-01-31 09:14:58\n"],
)  # fmt: skip
def test_everything_else_is_no_time(text: str) -> None:
    times = LocalTimes(MANILA)
    for _ in range(2):  # the second time it comes from what is remembered
        with pytest.raises(TimeError):
            times.read(text)


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        (BERLIN, "2025-10-26 02:30:00", datetime(2025, 10, 26, 0, 30)),  # repeated hour: the first one
        (BERLIN, "2025-10-26 03:00:00", datetime(2025, 10, 26, 2, 0)),
        (BERLIN, "2025-03-30 02:30:00", datetime(2025, 3, 30, 1, 30)),  # missing hour: the offset before the gap
        (BERLIN, "2025-03-30 03:00:00", datetime(2025, 3, 30, 1, 0)),
        (LORD_HOWE, "2025-04-06 01:15:00", datetime(2025, 4, 5, 14, 15)),  # half an hour is repeated
        (LORD_HOWE, "2025-04-06 01:45:00", datetime(2025, 4, 5, 14, 45)),
        (LORD_HOWE, "2025-04-06 02:00:00", datetime(2025, 4, 5, 15, 30)),
        (LORD_HOWE, "2025-10-05 02:15:00", datetime(2025, 10, 4, 15, 45)),  # half an hour is missing
        (LORD_HOWE, "2025-10-05 02:45:00", datetime(2025, 10, 4, 15, 45)),
        (MANILA, "2025-01-01 07:59:59", datetime(2024, 12, 31, 23, 59, 59)),
    ],
)
def test_local_time_becomes_an_instant(zone: ZoneInfo, local: str, utc: datetime) -> None:
    times = LocalTimes(zone)
    times.read(local[:11] + "00:30:00")  # another hour is remembered first, then the same one
    times.read(local[:14] + "00:00")
    assert times.read(local)[1] == utc.replace(tzinfo=UTC)


@settings(max_examples=300, deadline=None)
@given(
    st.datetimes(datetime(1900, 1, 2), datetime(2100, 1, 1)),
    st.sampled_from(
        [
            BERLIN,
            MANILA,
            LORD_HOWE,
            ZoneInfo("America/St_Johns"),
            ZoneInfo("Africa/Casablanca"),
            ZoneInfo("Asia/Kathmandu"),
        ]
    ),
)
def test_the_remembered_offset_is_always_the_right_one(moment: datetime, zone: ZoneInfo) -> None:
    moment = moment.replace(microsecond=0)
    times = LocalTimes(zone)
    times.read(str(moment.replace(minute=0, second=0)))
    local, instant = times.read(str(moment))
    assert local == moment
    assert instant == moment.replace(tzinfo=zone, fold=0).astimezone(UTC)


def test_what_is_remembered_stays_bounded() -> None:
    times = LocalTimes(MANILA)
    for hour in range(25_000):
        times.read(str(datetime(2000, 1, 1) + timedelta(hours=hour)))
    assert len(times._hours) <= 20_000


@pytest.mark.parametrize(
    ("text", "day"),
    [("2025-01-31", date(2025, 1, 31)), ("2025-01-31 ", date(2025, 1, 31)), ("01/31/2025", date(2025, 1, 31)),
     ("2025-01-31 00:00:00", date(2025, 1, 31)), ("2025-01-31T00:00:00Z", date(2025, 1, 31))],
)  # fmt: skip
def test_dates_are_read(text: str, day: date) -> None:
    assert read_date(text) == day


@pytest.mark.parametrize("text", ["", "31/01/2025", "2025-02-29", "0000-00-00", "1-1-2025", "20250131"])
def test_what_is_not_a_date_is_refused(text: str) -> None:
    with pytest.raises(TimeError):
        read_date(text)


# Punches.


def test_the_row_seen_in_the_wild_is_read() -> None:
    read = punch()
    assert (read.remote_id, read.emp_code, read.code, read.verify) == ("122723", "10136", 255, 1)
    assert read.punched_at_raw == "2025-08-26 09:14:58"
    assert read.punched_at_local == datetime(2025, 8, 26, 9, 14, 58)
    assert read.punched_at_utc == datetime(2025, 8, 26, 1, 14, 58, tzinfo=UTC)
    assert read.uploaded_at_utc == datetime(2025, 8, 26, 0, 40, 59, tzinfo=UTC)
    assert (read.terminal_sn, read.terminal_alias) == ("MFP3241700893", "Gate")
    assert (read.temperature, read.photo_ref) == (None, None)


def test_codes_of_people_are_kept_to_the_letter() -> None:
    for code in ("00010136", "A-17", " 12 ", "ÑÑ", "7" * 64):
        assert punch(emp_code=code).emp_code == code
    assert punch(emp_code=10136).emp_code == "10136"


@pytest.mark.parametrize("code", ["7", "ÑÑ"])
@pytest.mark.parametrize("nothing", ["", None])
def test_a_terminal_that_is_not_named_is_none(code: str, nothing: str | None) -> None:
    read = punch(emp_code=code, terminal_sn=nothing, terminal_alias=nothing)
    assert (read.terminal_sn, read.terminal_alias) == (None, None)


def test_the_cloud_s_ids_are_texts() -> None:
    assert punch(id="0af3" * 8).remote_id == "0af3" * 8


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("0", 0),
        ("5", 5),
        (4, 4),
        ("9", 9),
        ("255", 255),
        (None, None),
        ("", None),
        (99999, 99999),
        ("-1", -1),
        (2**31 - 1, 2**31 - 1),
    ],
)
def test_punch_codes_are_numbers_as_sent(sent: Any, code: int | None) -> None:
    assert punch(punch_state=sent).code == code
    assert punch(verify_type=sent).verify == code


@pytest.mark.parametrize(
    ("sent", "degrees"),
    [(0.0, None), (0, None), (255, None), (255.0, None), ("255", None), (None, None), ("", None), (36.5, 36.5), ("36.55", 36.55),
     (-1, None), (6553.5, None), (97.7, 97.7), (149.99, 149.99), (150, None), ("36.556", 36.56), ("0.0", None)],
)  # fmt: skip
def test_temperatures_that_were_not_measured_are_none(sent: Any, degrees: float | None) -> None:
    assert punch(temperature=sent).temperature == degrees


def test_a_reference_to_a_picture_is_kept_and_a_picture_is_not() -> None:
    assert punch(photo="/media/punches/1.jpg").photo_ref == "/media/punches/1.jpg"
    assert punch(captured=True).photo_ref == "/media/punches/122723/"
    assert punch(captured=1).photo_ref is None
    without = Parser(replace(ONPREM, captured_photo=None), MANILA, Redactor())
    assert without.punches([PUNCH | {"captured": True}]).rows[0].photo_ref is None
    for inline in ("data:image/png;base64,AAAA", "/9j/" + "A" * 9000, ["x"], 7):
        assert punch(photo=inline).photo_ref is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"punch_time": "yesterday"}, "no time"),
        ({"punch_time": None}, "punch_time"),
        ({"punch_time": 1738286098}, "punch_time"),
        ({"punch_time": "0000-00-00 00:00:00"}, "no"),
        ({"punch_time": "0021-08-26 09:14:58"}, "outside the years"),
        ({"punch_time": " " * 46 + "2025-08-26 09:14:58"}, "punch_time is longer than 64"),
        ({"upload_time": "soon"}, "no time"),
        ({"emp_code": ""}, "emp_code is missing"),
        ({"emp_code": "  "}, "emp_code is missing"),
        ({"emp_code": None}, "emp_code"),
        ({"emp_code": True}, "emp_code"),
        ({"emp_code": ["7"]}, "emp_code"),
        ({"emp_code": "7" * 65}, "longer than 64"),
        ({"emp_code": "7\0"}, "NUL"),
        ({"emp_code": "7\ud800"}, "half a character"),
        ({"\ud800": 1}, "half a character"),
        ({"terminal_sn": "x" * 65}, "longer than 64"),
        ({"terminal_alias": "x\0"}, "NUL"),
        ({"terminal_alias": "x" * 201}, "longer than 200"),
        ({"id": None}, "id"),
        ({"id": 10**30}, "id"),
        ({"id": 1.5}, "id"),
        ({"id": ""}, "id is missing"),
        ({"punch_state": "I"}, "no whole number"),
        ({"punch_state": 10**12}, "too large"),
        ({"punch_state": 2**31}, "too large"),
        ({"verify_type": -(2**31)}, "too large"),
        ({"punch_state": True}, "punch_state"),
        ({"verify_type": {}}, "verify_type"),
        ({"temperature": "warm"}, "temperature"),
        ({"temperature": True}, "temperature"),
    ],
)
def test_a_row_that_cannot_be_read_says_why(changes: dict[str, Any], said: str) -> None:
    assert said in reason(**changes)


@pytest.mark.parametrize("row", [None, 7, "row", [], {}, {"id": 1}])
def test_what_is_not_a_punch_is_set_aside(row: Any) -> None:
    parsed = PARSER.punches([PUNCH, row, PUNCH])
    assert (len(parsed.rows), len(parsed.set_aside)) == (2, 1)


def test_one_bad_row_leaves_the_others_in_their_order() -> None:
    rows = [{**PUNCH, "id": number} for number in range(20)]
    rows[7] = {**PUNCH, "punch_time": 3}
    parsed = PARSER.punches(rows)
    assert [read.remote_id for read in parsed.rows] == [str(number) for number in range(20) if number != 7]
    assert json.loads(parsed.set_aside[0].raw)["punch_time"] == 3


def test_a_row_set_aside_is_redacted() -> None:
    parsed = PARSER.punches(
        [{**PUNCH, "punch_time": "x", "card_no": "8812345", "note": "hunter22222", "nested": {"token": "abc123"}}]
    )
    for secret in ("8812345", "hunter22222", "abc123"):
        assert secret not in parsed.set_aside[0].raw
    assert "10136" in parsed.set_aside[0].raw


def test_relatives_that_name_fields_otherwise_are_understood() -> None:
    row = {name: value for name, value in PUNCH.items() if name not in ("punch_time", "punch_state")}
    parsed = Parser(CLOUD, MANILA, Redactor()).punches([{**row, "punchTime": "2025-08-26 09:14:58", "punchState": "1"}])
    assert (parsed.rows[0].code, parsed.rows[0].punched_at_raw) == (1, "2025-08-26 09:14:58")


# People, terminals, organisation, schedules.


def test_the_employee_seen_in_the_wild_is_read() -> None:
    (read,) = PARSER.employees([EMPLOYEE]).rows
    assert read == ParsedEmployee(
        "772", "0010136", "Ana", "Cruz", Ref("3", "K"), None, (Ref("1", "N"),), "ana@clock.example",
        date(2024, 2, 29), True, Enrolment(True, False, False, True, True), "/media/people/0010136/",
    )  # fmt: skip
    assert read.full_name == "Ana Cruz"


CLOUD_ID = "0af3" * 8


@pytest.mark.parametrize(
    ("changes", "read"),
    [
        ({"last_name": None}, {"full_name": "Ana"}),
        ({"first_name": " Ana ", "last_name": " "}, {"first_name": " Ana ", "last_name": None, "full_name": "Ana"}),
        ({"first_name": 7}, {"first_name": "7"}),
        ({"first_name": "x" * 200, "email": "x" * 254}, {"email": "x" * 254}),
        ({"enable_att": None}, {"active": True}),
        ({"enable_att": False}, {"active": False}),
        ({"attemployee": {"enable_attendance": "0"}}, {"active": False}),
        ({"attemployee": {"enable_attendance": "yes"}}, {"active": True}),
        ({"disabled": "on"}, {"active": False}),
        ({"is_disabled": 1}, {"active": False}),
        ({"disabled": "No", "is_disabled": ""}, {"active": True}),
        ({"department": None}, {"department": None}),
        ({"department": ""}, {"department": None}),
        ({"department": "Kitchen"}, {"department": None}),
        ({"department": 3}, {"department": Ref("3", None)}),
        ({"department": CLOUD_ID}, {"department": Ref(CLOUD_ID, None)}),
        ({"position": {"id": 9, "position_code": "C", "position_name": "Cook"}}, {"position": Ref("9", "C")}),
        ({"area": None}, {"areas": ()}),
        ({"area": {"id": 1}}, {"areas": (Ref("1", None),)}),
        ({"area": [2, None, "North"]}, {"areas": (Ref("2", None),)}),
        ({"hire_date": " "}, {"hired_on": None}),
        ({"hire_date": "01/31/2025"}, {"hired_on": date(2025, 1, 31)}),
        ({"photo": None, "photo_url": "/a.jpg", "avatar": "/b.jpg"}, {"photo_ref": "/a.jpg"}),
        ({"photo": None, "avatar": "/b.jpg"}, {"photo_ref": "/b.jpg"}),
        ({"photo": "/" + "x" * 499}, {"photo_ref": "/" + "x" * 499}),
        ({"photo": "/" + "x" * 500}, {"photo_ref": None}),
        ({"photo": "/a\n.jpg"}, {"photo_ref": None}),
    ],
)
def test_what_servers_say_of_people_otherwise_is_understood(changes: dict[str, Any], read: dict[str, Any]) -> None:
    (found,) = PARSER.employees([EMPLOYEE | changes]).rows
    assert {name: getattr(found, name) for name in read} == read


@pytest.mark.parametrize("yes", [True, 1, "true", " TRUE ", "1", "yes", "y", "on"])
@pytest.mark.parametrize("no", [None, False, 0, "", "false", "0", "No", "n", "off"])
def test_yes_and_no_are_read_in_every_spelling(yes: Any, no: Any) -> None:
    disabled, enabled = PARSER.employees([EMPLOYEE | {"disabled": yes}, EMPLOYEE | {"disabled": no}]).rows
    assert (disabled.active, enabled.active) == (False, True)


@pytest.mark.parametrize(
    ("said", "is_enrolled"),
    [
        ("Ver 10:1", True),
        ("Ver 10:0", False),
        ("ver 10: 03", True),
        (" - ", False),
        ("", False),
        ("No", False),
        ("none", False),
        ("null", False),
        ("TXdEU0", True),
        (None, False),
        (True, True),
        (False, False),
        (0, False),
        (2, True),
        (-1, False),
        ({}, False),
        ({"count": 1}, True),
    ],
)
def test_what_is_enrolled_is_known_and_nothing_of_it_kept(said: Any, is_enrolled: bool) -> None:
    (by_finger,) = PARSER.employees([EMPLOYEE | {"fingerprint": said}]).rows
    assert by_finger.enrolled.fingerprint is is_enrolled
    (by_old_face,) = PARSER.employees([EMPLOYEE | {"face": said, "vl_face": "-"}]).rows
    assert by_old_face.enrolled.face is is_enrolled
    (by_face,) = PARSER.employees([EMPLOYEE | {"face": "-", "vl_face": said, "palm": said}]).rows
    assert (by_face.enrolled.face, by_face.enrolled.palm) == (is_enrolled, is_enrolled)
    (by_seen_palm,) = PARSER.employees([EMPLOYEE | {"palm": "-", "vl_palm": said}]).rows
    assert by_seen_palm.enrolled.palm is is_enrolled


@pytest.mark.parametrize(
    ("said", "there"),
    [("8812", True), (8812, True), ("", False), (" ", False), ("0", False), (0, False), ("-", False), (None, False)],
)
def test_of_cards_and_passwords_only_that_they_are_there_is_known(said: Any, there: bool) -> None:
    (read,) = PARSER.employees([EMPLOYEE | {"card_no": said, "device_password": said}]).rows
    assert (read.enrolled.card, read.enrolled.password) == (there, there)


def test_the_terminal_seen_in_the_wild_is_read() -> None:
    (read,) = PARSER.devices([DEVICE]).rows
    assert read == ParsedDevice(
        "4", "MFP3241700893", "Gate", "SpeedFace", "10.0.0.9", "1.2", "online", Ref("1", "N"),
        datetime(2025, 8, 26, 1, 14, 58, tzinfo=UTC), 10, 9, None, 3, 700, True, "8",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "read"),
    [
        ({"state": " 0 "}, {"state": "offline"}),
        ({"state": "ONLINE"}, {"state": "online"}),
        ({"state": None}, {"state": "unknown"}),
        ({"user_count": "", "face_count": 0}, {"user_count": None, "face_count": 0}),
        ({"user_count": 2**31 - 1}, {"user_count": 2**31 - 1}),
        ({"is_attendance": None}, {"is_attendance": None}),
        ({"is_attendance": "False"}, {"is_attendance": False}),
        ({"last_activity": ""}, {"last_activity_at": None}),
    ],
)
def test_what_servers_say_of_terminals_otherwise_is_understood(changes: dict[str, Any], read: dict[str, Any]) -> None:
    (found,) = PARSER.devices([DEVICE | changes]).rows
    assert {name: getattr(found, name) for name in read} == read


@pytest.mark.parametrize(
    ("resource", "word"),
    [("departments", "dept"), ("positions", "position"), ("areas", "area"), ("locations", "location")],
)
def test_units_are_read_under_the_names_of_their_kind(resource: str, word: str) -> None:
    parent = {"id": 1, f"{word}_code": "R", f"{word}_name": "Root"}
    row = {"id": 3, f"{word}_code": "K", f"{word}_name": "Kitchen", f"parent_{word}": parent}
    read = PARSER.units(resource, [row, {"id": 4, f"{word}_code": "L"}]).rows
    assert read == [Unit("3", "K", "Kitchen", Ref("1", "R")), Unit("4", "L", "L", None)]


SHIFT = {
    "att_date": "2025-08-26", "timetable_alias": "Early", "check_in": "2025-08-26 08:00:00",
    "check_out": "2025-08-26 17:00:00", "break_minutes": 30, "day_off": False,
}  # fmt: skip


def test_shifts_are_read_in_local_time() -> None:
    read = PARSER.shifts([SHIFT, {"att_date": "2025-08-27", "day_off": "yes"}]).rows
    early, late = datetime(2025, 8, 26, 8), datetime(2025, 8, 26, 17)
    assert read == [
        ParsedShift(date(2025, 8, 26), "Early", early, late, 30, False),
        ParsedShift(date(2025, 8, 27), None, None, None, None, True),
    ]
    assert PARSER.shifts([SHIFT | {"day_off": None}]).rows[0].day_off is False


@pytest.mark.parametrize(
    ("resource", "changes", "said"),
    [
        ("employees", {"id": None}, "id is missing"),
        ("employees", {"emp_code": " "}, "emp_code is missing"),
        ("employees", {"first_name": True}, "first_name is no text"),
        ("employees", {"last_name": "x" * 201}, "last_name is longer than 200 characters"),
        ("employees", {"email": "x" * 255}, "email is longer than 254 characters"),
        ("employees", {"hire_date": 5}, "hire_date is no text"),
        ("employees", {"hire_date": "soon"}, "hire_date: 'soon' is no date"),
        ("employees", {"enable_att": "maybe"}, "enable_att is not yes or no"),
        ("employees", {"disabled": 1.0}, "disabled is not yes or no"),
        ("employees", {"department": 1.5}, "department is no whole number"),
        ("employees", {"department": {"id": "x" * 65}}, "department.id is longer than 64 characters"),
        ("employees", {"department": {"dept_code": "x" * 65}}, "department.dept_code is longer than 64 characters"),
        ("employees", {"area": [{"area_code": "x\0"}]}, "area.area_code holds a NUL character"),
        ("devices", {"sn": ""}, "sn is missing"),
        ("devices", {"ip_address": "x" * 65}, "ip_address is longer than 64 characters"),
        ("devices", {"user_count": -1}, "user_count is below zero"),
        ("devices", {"fp_count": 2**31}, "fp_count is too large a number"),
        ("devices", {"face_count": "few"}, "face_count is no whole number"),
        ("devices", {"palm_count": True}, "palm_count is no whole number"),
        ("devices", {"transaction_count": 1.5}, "transaction_count is no whole number"),
        ("shifts", {"att_date": None}, "att_date is missing"),
        ("shifts", {"check_in": "8"}, "check_in: '8' is no time"),
        ("shifts", {"break_minutes": -1}, "break_minutes is below zero"),
    ],
)
def test_so_does_a_row_of_people_terminals_or_schedules(resource: str, changes: dict[str, Any], said: str) -> None:
    base = {"employees": EMPLOYEE, "devices": DEVICE, "shifts": SHIFT}[resource]
    (aside,) = getattr(PARSER, resource)([base | changes]).set_aside
    assert aside.reason == said


@pytest.mark.parametrize("odd", ["x" * 900, "x\0", 10**30, 1.5, True, [None], {"id": {}}, "2025-02-30 25:00:00"])
def test_an_unused_field_costs_no_row_whatever_it_holds(odd: Any) -> None:
    """Of the fields that servers are known to send, these are neither stored nor shown."""
    unneeded = {
        "punches": (PUNCH, ("area_alias", "work_code", "gps_location", "is_mask", "emp", "punch_state_display")),
        "employees": (EMPLOYEE, ("mobile", "update_time", "app_status")),
        "devices": (DEVICE, ("push_ver",)),
    }
    for resource, (row, names) in unneeded.items():
        read = getattr(PARSER, resource)
        assert read([row | {name: odd} for name in names]).rows == read([row]).rows * len(names)
    named = EMPLOYEE | {"department": EMPLOYEE["department"] | {"dept_name": odd}}
    assert PARSER.employees([named]).rows == PARSER.employees([EMPLOYEE]).rows


@pytest.mark.parametrize("row", [None, 7, "row", []])
def test_what_is_not_an_object_is_set_aside_everywhere(row: Any) -> None:
    for read in (PARSER.employees, PARSER.devices, PARSER.shifts, lambda rows: PARSER.units("areas", rows)):
        assert [one.reason for one in read([row]).set_aside] == ["the row is not an object"]


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from(list(PUNCH.values())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = sorted(
    {
        *PUNCH,
        *EMPLOYEE,
        *DEVICE,
        "dept_code",
        "dept_name",
        "parent_dept",
        "photo",
        "captured",
        "attemployee",
        "disabled",
    }
)


@settings(max_examples=250, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), JUNK), st.sampled_from([PUNCH, EMPLOYEE, DEVICE, {}]))
def test_no_row_whatever_crashes_the_parser(changes: dict[str, Any], base: dict[str, Any]) -> None:
    row = {**base, **changes}
    for read in (
        PARSER.punches,
        PARSER.employees,
        PARSER.devices,
        PARSER.shifts,
        lambda rows: PARSER.units("departments", rows),
    ):
        parsed = read([row])
        assert len(parsed.rows) + len(parsed.set_aside) == 1
        for kept in _texts([*parsed.rows, *parsed.set_aside]):
            assert "\0" not in kept
            kept.encode()
            assert len(kept.encode()) <= 2048


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts(item)]
    fields = getattr(value, "__struct_fields__", ())
    return [text for name in fields for text in _texts(getattr(value, name))]
