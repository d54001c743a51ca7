"""Addresses of the database with one server or several, as libpq reads them."""

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from app.config import ConfigError, read_settings
from app.config.hosts import DatabaseServer, for_psycopg, read

SEVERAL = [
    ("postgresql://app@db1,db2/muster", [("db1", None), ("db2", None)]),
    ("postgresql://app:s%40@db1:5432,db2:5433/muster", [("db1", 5432), ("db2", 5433)]),
    ("postgres://app@db1:5433,db2/muster", [("db1", 5433), ("db2", None)]),
    ("postgresql://[::1]:5432,[fe80::1]/muster", [("::1", 5432), ("fe80::1", None)]),
    ("postgresql:///muster?host=db1,db2&port=5432,5433", [("db1", 5432), ("db2", 5433)]),
    ("postgresql://db0/muster?host=db1,db2&port=6000", [("db1", 6000), ("db2", 6000)]),
    ("postgresql://%2Fvar%2Frun/muster", [("/var/run", None)]),
    ("postgresql:///muster?host=/var/run", [("/var/run", None)]),
    ("postgresql:///muster", [(None, None)]),
]


@pytest.mark.parametrize(("url", "servers"), SEVERAL)
def test_the_servers_are_those_that_libpq_reads(url: str, servers: list[tuple[str | None, int | None]]) -> None:
    assert [(one.host, one.port) for one in read(url).servers] == servers
    theirs = conninfo_to_dict(url)
    hosts = str(theirs.get("host", "")).split(",")
    ports = str(theirs.get("port", "")).split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    pairs = zip(hosts, ports, strict=True)
    assert [(host or None, int(port) if port else None) for host, port in pairs] == servers


def test_the_driver_gets_the_rest() -> None:
    url = "postgresql://app:s%40@db1,db2/muster?sslmode=require&connect_timeout=3&target_session_attrs=read-write"
    address = read(url)
    assert (address.user, address.wanted, address.patience_s) == ("app", "read-write", 3)
    assert address.rest == "postgresql://app:s%40@/muster?sslmode=require"
    assert read("postgresql:///muster?user=else").user == "else"


@pytest.mark.parametrize(
    ("url", "patience_s"),
    [
        ("postgresql://db/m", 10),
        ("postgresql://db1,db2/m", 5),
        ("postgresql://db1,db2/m?connect_timeout=2", 2),
        ("postgresql://db/m?connect_timeout=0", 10),
    ],
)
def test_one_of_several_servers_is_waited_for_less_long(url: str, patience_s: float) -> None:
    assert read(url).patience_among(10) == patience_s
    assert for_psycopg(url)["connect_timeout"] == patience_s


def test_both_drivers_look_for_a_server_that_takes_changes() -> None:
    assert for_psycopg("postgresql://db1,db2/m")["target_session_attrs"] == "primary"
    assert for_psycopg("postgresql://db1,db2/m?target_session_attrs=any")["target_session_attrs"] == "any"
    # It knows all the words.
    psycopg.conninfo.make_conninfo("postgresql://db1,db2/m", **for_psycopg("postgresql://db1,db2/m"))


@pytest.mark.parametrize("name", ["MUSTER_DATABASE_URL", "MUSTER_OWNER_DATABASE_URL", "MUSTER_DIRECT_DATABASE_URL"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("postgresql://app@db1,,db2/m", "each of several servers needs a name"),
        ("postgresql://app@db1,db2,db3/m?port=1,2", "as many ports as servers"),
        ("postgresql://app@db1:port,db2/m", "can't be read"),
        ("postgresql://app@db1:0,db2/m", "a port must be from 1 to 65535"),
        ("postgresql://app@db1:123456789,db2/m", "a port must be from 1 to 65535"),
        ("postgresql://app@db1,db2/m?target_session_attrs=writable", "a word that libpq knows"),
        ("postgresql://app@db1,db2/m?target_session_attrs=standby", "a server that takes changes"),
        ("postgresql://app@db1,db2/m?connect_timeout=soon", "must be seconds"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(name: str, value: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as refused:
        read_settings({name: value})
    assert name in str(refused.value)
    assert "db1" not in str(refused.value), "what is printed holds no part of an address"


def test_owner_and_app_are_told_apart_behind_several_servers() -> None:
    told = {
        "MUSTER_ENV": "production",
        "MUSTER_DATABASE_URL": "postgresql://app@db1:1,db2:2/m",
        "MUSTER_OWNER_DATABASE_URL": "postgresql://owner@db1:1,db2:2/m",
        "MUSTER_SECRET_KEYS": "k1:AAAA",
        "MUSTER_BASE_URL": "https://muster.example",
    }
    assert read_settings(told).database_url == "postgresql://app@db1:1,db2:2/m"
    with pytest.raises(ConfigError, match="two different roles"):
        read_settings({**told, "MUSTER_OWNER_DATABASE_URL": "postgresql://app@db2/m"})


def test_a_server_is_named_as_people_write_it() -> None:
    assert [
        str(one) for one in (DatabaseServer("db1", 5433), DatabaseServer("db1", None), DatabaseServer(None, None))
    ] == [
        "db1:5433",
        "db1",
        "the local server",
    ]
