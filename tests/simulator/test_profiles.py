"""Both profiles over real HTTP: what they ask for, what they give, how they say no."""

import ssl
import struct
import time
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from zoneinfo import ZoneInfo

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.simulator import build_world, create_simulator, serving
from tests.simulator.visitor import NOW, PLAIN, ZONE, small_world, visiting

BOTH = pytest.mark.parametrize("profile", ["cloud", "onprem"])
ROW_FIELDS = {
    "id", "emp", "emp_code", "first_name", "last_name", "department", "position", "punch_time", "punch_state",
    "punch_state_display", "verify_type", "verify_type_display", "terminal_sn", "terminal_alias", "area_alias",
    "temperature", "is_mask", "upload_time", "work_code", "gps_location",
}  # fmt: skip
EMPLOYEE_FIELDS = {
    "id", "emp_code", "first_name", "last_name", "department", "position", "area", "hire_date", "email", "mobile",
    "card_no", "enable_att", "app_status", "update_time", "fingerprint", "face", "palm", "vl_face", "device_password",
}  # fmt: skip
DEVICE_FIELDS = {
    "id", "sn", "ip_address", "alias", "terminal_name", "fw_ver", "push_ver", "state", "terminal_tz", "area",
    "last_activity", "user_count", "fp_count", "face_count", "palm_count", "transaction_count", "is_attendance",
}  # fmt: skip


@BOTH
async def test_a_walk_gives_every_punch_exactly_once(profile):
    async with visiting(profile) as visitor:
        rows = await visitor.walk("transactions", size=77)
        table = visitor.simulator.world.punches
        assert len({row["id"] for row in rows}) == len(rows) == len(table)
        assert [row["emp_code"] for row in rows] == [visitor.simulator.world.people[one].code for one in table.person]


@BOTH
async def test_every_listing_of_the_profile_can_be_walked(profile):
    async with visiting(profile) as visitor:
        world = visitor.simulator.world
        expected = {
            "departments": len(world.departments), "positions": len(world.positions), "areas": len(world.areas),
            "employees": len(world.people), "devices": len(world.terminals),
        }  # fmt: skip
        for resource, count in expected.items():
            rows = await visitor.walk(resource, size=3)
            assert len({row["id"] for row in rows}) == len(rows) == count, resource


@BOTH
async def test_rows_have_all_their_fields(profile):
    async with visiting(profile) as visitor:
        punches, _ = await visitor.page("transactions", page_size=500)
        people, _ = await visitor.page("employees")
        devices, _ = await visitor.page("devices")
    assert all(row.keys() >= ROW_FIELDS for row in punches)
    assert all(row.keys() >= EMPLOYEE_FIELDS for row in people)
    assert all(row.keys() >= DEVICE_FIELDS for row in devices)
    assert {type(row["id"]) for row in punches} == {str if profile == "cloud" else int}
    assert {row["temperature"] for row in punches} >= {0.0}
    assert {row["punch_state"] for row in punches} >= {"0", "1", "255"}
    assert {row["emp"] is None for row in punches} == {True, False}
    assert people[0]["self_password"].startswith("pbkdf2_sha256$")
    assert [row["is_attendance"] for row in devices].count(False) == 1


async def test_cloud_ids_are_thirty_two_hexadecimal_digits():
    async with visiting("cloud") as visitor:
        rows = await visitor.walk("transactions", size=500)
    assert all(len(row["id"]) == 32 and int(row["id"], 16) >= 0 for row in rows)


async def test_locations_and_schedules_are_the_clouds_alone():
    async with visiting("cloud") as visitor:
        places, total = await visitor.page("locations")
        assert total == len(places) == 3
        query = {"emp_code": "10001", "start_date": "2025-03-10", "end_date": "2025-03-16"}
        days, _ = await visitor.page("schedules", **query)
        assert len(days) == 5
        assert {day["emp_code"] for day in days} == {"10001"}
        assert (await visitor.page("schedules", **(query | {"emp_code": "unknown"})))[0] == []
        assert (await visitor.page("schedules", **(query | {"start_date": "soon"})))[0] == []
    async with visiting("onprem") as visitor:
        assert not {"locations", "schedules"} & visitor.profile.paths.keys()


async def test_the_cloud_envelope_counts_pages():
    async with visiting("cloud") as visitor:
        body = (await visitor.get("employees", page=2, page_size=15)).json()
        assert body["code"] == "ZBSY0000"
        data = body["data"]
        assert (data["total"], data["num_pages"], data["page"], data["page_size"], len(data["data"])) == (
            40,
            3,
            2,
            15,
            15,
        )


async def test_the_onprem_envelope_names_the_neighbouring_pages():
    async with visiting("onprem") as visitor:
        body = (await visitor.get("employees", page=2, page_size=15)).json()
        assert body["code"] == 0
        assert body["count"] == 40
        assert (await visitor.http.get(body["next"])).json()["data"][0]["id"] == body["data"][-1]["id"] + 1
        assert "page=1" in body["previous"]
        assert (await visitor.get("employees", page=3, page_size=15)).json()["next"] is None
        assert (await visitor.get("departments", page_size=50)).json()["next"] == "null"


async def test_page_sizes_have_a_default_and_a_largest():
    async with visiting("onprem") as visitor:
        assert len((await visitor.page("transactions"))[0]) == 10
        assert len((await visitor.page("transactions", limit=33))[0]) == 33
    async with visiting("cloud") as visitor:
        assert len((await visitor.page("transactions"))[0]) == 20
        assert len((await visitor.page("transactions", page_size=5000))[0]) == 500


@BOTH
async def test_the_window_is_by_punch_time_with_both_bounds(profile):
    async with visiting(profile) as visitor:
        rows = await visitor.walk("transactions", size=500)
        times = [row["punch_time"] for row in rows]
        first, last = times[30], times[90]
        window = await visitor.walk("transactions", start_time=first, end_time=last)
        assert [row["punch_time"] for row in window] == [text for text in times if first <= text <= last]


@BOTH
async def test_filters_by_person_and_terminal_and_ignores_what_it_does_not_know(profile):
    async with visiting(profile) as visitor:
        rows = await visitor.walk("transactions", size=500)
        code, serial = rows[0]["emp_code"], rows[0]["terminal_sn"]
        mine = await visitor.walk("transactions", emp_code=code, colour="green")
        assert [row["id"] for row in mine] == [row["id"] for row in rows if row["emp_code"] == code]
        here = await visitor.walk("transactions", size=500, terminal_sn=serial)
        assert [row["id"] for row in here] == [row["id"] for row in rows if row["terminal_sn"] == serial]
        assert await visitor.page("transactions", start_time="last tuesday") == ([], 0)


async def test_the_timezone_header_decides_in_which_zone_the_clouds_times_are():
    async with visiting("cloud") as visitor:
        here, _ = await visitor.page("transactions")
        visitor.http.headers["Timezone"] = "Asia/Kathmandu"
        there, _ = await visitor.page("transactions")
        del visitor.http.headers["Timezone"]
        without, _ = await visitor.page("transactions")
    assert without == here, "without the header it is the server's own zone"
    for near, far in zip(here, there, strict=True):
        ahead = datetime.fromisoformat(far["punch_time"]) - datetime.fromisoformat(near["punch_time"])
        assert ahead == timedelta(hours=4, minutes=45)


async def test_the_timezone_header_also_decides_how_the_window_is_read():
    async with visiting("cloud") as visitor:
        rows, _ = await visitor.page("transactions")
        visitor.http.headers["Timezone"] = "Asia/Kathmandu"
        moment = datetime.fromisoformat(rows[5]["punch_time"]).replace(tzinfo=ZoneInfo(ZONE))
        there = moment.astimezone(ZoneInfo("Asia/Kathmandu")).strftime("%Y-%m-%d %H:%M:%S")
        found, _ = await visitor.page("transactions", start_time=there)
        assert found[0]["id"] == rows[5]["id"]


async def test_the_onprem_server_knows_no_zones_but_its_own():
    async with visiting("onprem") as visitor:
        here, _ = await visitor.page("transactions")
        visitor.http.headers["Timezone"] = "Asia/Kathmandu"
        assert (await visitor.page("transactions"))[0] == here


@BOTH
async def test_wrong_credentials_are_refused_in_the_profiles_words(profile):
    async with visiting(profile) as visitor:
        answer = await visitor.sign_in("guess")
        if profile == "cloud":
            assert (answer.status_code, answer.json()["code"]) == (401, "ZBSY0005")
        else:
            assert (answer.status_code, list(answer.json())) == (400, ["non_field_errors"])


@BOTH
async def test_bearer_is_refused_without_a_useful_word(profile):
    async with visiting(profile) as visitor:
        token = visitor.http.headers["Authorization"].split()[1]
        visitor.http.headers["Authorization"] = f"Bearer {token}"
        answer = await visitor.get("employees")
        assert answer.status_code == 401
        assert answer.json().get("message", answer.json().get("detail")) == ""


@BOTH
async def test_the_accessor_header_must_say_web(profile):
    async with visiting(profile) as visitor:
        visitor.http.headers["Accessor"] = "Phone"
        assert (await visitor.get("employees")).status_code == 403
        del visitor.http.headers["Accessor"]
        assert (await visitor.get("employees")).status_code == 403


@BOTH
async def test_a_path_without_its_last_slash_redirects_and_cannot_be_posted_to(profile):
    async with visiting(profile) as visitor:
        bare = visitor.profile.paths["employees"].rstrip("/")
        answer = await visitor.http.get(bare)
        assert (answer.status_code, answer.headers["location"]) == (301, bare + "/")
        assert (await visitor.http.post(visitor.profile.sign_in.rstrip("/"), json={})).status_code == 404


@BOTH
async def test_the_paths_that_people_try_first_are_refused(profile):
    async with visiting(profile) as visitor:
        statuses = [
            (await visitor.http.post(path)).status_code
            for path in (
                "/api/jwt-api-token-auth/", "/web/oauth/api/v2/sign_in/", "/web/att/api/v2/employee_schedules/",
            )
        ]  # fmt: skip
        assert statuses == [405, 404, 404]
        assert (await visitor.http.get("/somewhere/else/")).status_code == 404


async def test_a_second_sign_in_ends_the_first_session_on_the_cloud_only():
    for profile, status in (("cloud", 401), ("onprem", 200)):
        async with visiting(profile) as visitor:
            first = visitor.http.headers["Authorization"]
            await visitor.sign_in()
            assert (await visitor.get("employees")).status_code == 200
            visitor.http.headers["Authorization"] = first
            assert (await visitor.get("employees")).status_code == status


@BOTH
async def test_a_token_can_be_renewed_and_the_old_one_is_over(profile):
    async with visiting(profile) as visitor:
        old = visitor.http.headers["Authorization"]
        assert (await visitor.renew()).status_code == 200
        assert (await visitor.get("employees")).status_code == 200
        visitor.http.headers["Authorization"] = old
        assert (await visitor.get("employees")).status_code == 401


@BOTH
async def test_a_token_ends_when_it_said_it_would(profile):
    real = [time.time()]
    async with visiting(profile, real_clock=lambda: real[0]) as visitor:
        assert (await visitor.get("employees")).status_code == 200
        real[0] += visitor.profile.token_days * 86400 + 1
        assert (await visitor.get("employees")).status_code == 401
        await visitor.sign_in()
        assert (await visitor.get("employees")).status_code == 200


@BOTH
async def test_a_photo_is_a_small_png_for_the_person_who_is_signed_in(profile):
    async with visiting(profile) as visitor:
        people, _ = await visitor.page("employees")
        punches = [row for row in await visitor.walk("transactions", size=500) if row["photo"]]
        for address in (people[0]["photo"], punches[0]["photo"]):
            picture = await visitor.http.get(address)
            assert picture.headers["content-type"] == "image/png"
            assert struct.unpack(">II", picture.content[16:24]) == (64, 64)
            assert (await visitor.http.get(address, headers={"Authorization": ""})).status_code == 401
        assert (await visitor.http.get("/media/people/missing/")).status_code == 404


async def test_the_same_seed_gives_the_same_bytes():
    bodies = []
    for _ in range(2):
        async with visiting("cloud") as visitor:
            bodies.append((await visitor.get("transactions", page_size=500)).content)
    assert bodies[0] == bodies[1]


async def test_both_profiles_may_serve_one_world_at_once():
    world = small_world()
    async with visiting("cloud", world=world) as one, visiting("onprem", world=world) as other:
        assert (await one.page("employees"))[1] == (await other.page("employees"))[1]


@pytest.mark.slow
@BOTH
async def test_serving_keeps_well_ahead_of_a_client(profile):
    """Printed, not judged: the machine may be busy."""
    world = build_world(7, 1000, 30, 8, NOW, ZONE)
    async with visiting(profile, world=world) as visitor:
        begun = time.perf_counter()
        size = 0
        for page in range(1, 101):
            size += len((await visitor.get("transactions", page=page, page_size=500)).content)
        took = time.perf_counter() - begun
    print(f"\n{profile}: {50_000 / took:,.0f} rows a second, {size / took / 1e6:.0f} MB/s, client included")  # noqa: T201 -- for a person who looks, with -s
    assert size > 50_000 * 400


async def test_an_address_is_given_up_when_serving_ends():
    async with serving(create_simulator(small_world())) as address, httpx.AsyncClient(base_url=address) as http:
        assert (await http.get("/")).status_code == 200
    async with httpx.AsyncClient(base_url=address) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get("/")


async def test_https_on_the_plain_port_is_a_tls_error():
    async with serving(create_simulator(small_world())) as address, httpx.AsyncClient(verify=PLAIN) as http:
        with pytest.raises(httpx.ConnectError, match=r"(?i)ssl"):
            await http.get(address.replace("http://", "https://"))


async def test_a_certificate_of_an_unknown_authority_is_a_tls_error(tmp_path):
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(self_signed(tmp_path))
    async with serving(create_simulator(small_world()), tls=tls) as address:
        async with httpx.AsyncClient(verify=PLAIN) as http:
            with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await http.get(address)
        trusting = ssl.create_default_context(cafile=tmp_path / "both.pem")
        async with httpx.AsyncClient(verify=trusting) as http:
            assert (await http.get(address)).status_code == 200


def self_signed(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "clock.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "both.pem"
    path.write_bytes(secret + certificate.public_bytes(pem))
    return path
