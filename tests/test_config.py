"""What the environment may say, and the one line that refuses anything else."""

from pathlib import Path

import pytest

from app.config import ConfigError, read_settings

PRODUCTION = {
    "MUSTER_ENV": "production",
    "MUSTER_DATABASE_URL": "postgresql://muster_app:secret@db/muster",
    "MUSTER_OWNER_DATABASE_URL": "postgresql://muster_owner:secret@db/muster",
    "MUSTER_SECRET_KEYS": "k1:AAAA",
    "MUSTER_BASE_URL": "https://muster.example",
}


def test_nothing_need_be_set_in_development() -> None:
    settings = read_settings({})
    assert settings.base_url == "http://127.0.0.1:8000"
    assert settings.allowed_hosts == ("127.0.0.1",)
    assert (settings.trusted_proxies, settings.api_rate, settings.log_format) == (0, 600, "console")
    assert (settings.keep_alive_s, settings.drain_s) == (75, 5)
    assert (settings.production, settings.secure, settings.database_url) == (False, False, None)
    assert settings.data_dir == Path(".muster").absolute()


def test_what_is_set_to_nothing_is_not_set() -> None:
    names = ("BASE_URL", "ALLOWED_HOSTS", "TRUSTED_PROXIES", "API_RATE", "LOG_FORMAT", "DATABASE_URL", "SECRET_KEYS")
    assert read_settings({f"MUSTER_{name}": "" for name in names}) == read_settings({})


def test_production_is_secure() -> None:
    settings = read_settings(PRODUCTION)
    assert (settings.production, settings.secure, settings.allowed_hosts) == (True, True, ("muster.example",))


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://Muster.Example/", "https://muster.example"),
        ("https://muster.example:443", "https://muster.example"),
        ("http://muster.example:80/", "http://muster.example"),
        ("http://muster.example:443", "http://muster.example:443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_base_url_is_kept_as_browsers_write_an_origin(given: str, origin: str) -> None:
    assert read_settings({"MUSTER_BASE_URL": given}).base_url == origin


def test_the_owner_is_told_only_where_tables_are_made() -> None:
    settings = read_settings({**PRODUCTION, "MUSTER_OWNER_DATABASE_URL": ""})
    assert (settings.production, settings.owner_database_url) == (True, None)


@pytest.mark.parametrize(
    "name", [name for name in PRODUCTION if name not in ("MUSTER_ENV", "MUSTER_OWNER_DATABASE_URL")]
)
def test_production_names_what_is_missing(name: str) -> None:
    with pytest.raises(ConfigError, match=f"needs {name}$"):
        read_settings({**PRODUCTION, name: ""})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("MUSTER_ENV", "prod", "must be development or production"),
        ("MUSTER_OWNER_DATABASE_URL", "postgresql://muster_app:other@db/muster", "two different roles"),
        ("MUSTER_DATABASE_URL", "mysql://muster_app@db/muster", "must start with postgresql://"),
        ("MUSTER_DATABASE_URL", "postgresql://muster_app:sec/ret@db/muster", "is not an address"),
        ("MUSTER_DATABASE_URL", "postgresql://muster_app:[secret@db/muster", "is not an address"),
        ("MUSTER_POOLER", "pgpool", "must be none, session or transaction"),
        ("MUSTER_DIRECT_DATABASE_URL", "mysql://muster_app@db/muster", "must start with postgresql://"),
        ("MUSTER_WEB_POOL", "1", "must be at least 2"),
        ("MUSTER_EXPORT_POOL", "0", "must be at least 1"),
        ("MUSTER_WORKER_POOL", "many", "must be a whole number"),
        ("MUSTER_BASE_URL", "muster.example", "such as https://muster.example"),
        ("MUSTER_BASE_URL", "ftp://muster.example", "such as https://muster.example"),
        ("MUSTER_BASE_URL", "https://", "such as https://muster.example"),
        ("MUSTER_BASE_URL", "https://bob@muster.example", "such as https://muster.example"),
        ("MUSTER_BASE_URL", "https://muster.example:port", "such as https://muster.example"),
        ("MUSTER_BASE_URL", "https://muster.example:0", "such as https://muster.example"),
        ("MUSTER_BASE_URL", "https://muster.example/portal", "can't run below a path"),
        ("MUSTER_BASE_URL", "https://muster.example?a=b", "can't run below a path"),
        ("MUSTER_TRUSTED_PROXIES", "one", "must be a whole number"),
        ("MUSTER_TRUSTED_PROXIES", "-1", "must be a whole number"),
        ("MUSTER_API_RATE", "²", "must be a whole number"),
        ("MUSTER_KEEP_ALIVE_S", "-1", "must be a whole number"),
        ("MUSTER_DRAIN_S", "5s", "must be a whole number"),
        ("MUSTER_API_RATE", "9" * 5000, "must be a whole number"),
        ("MUSTER_LOG_FORMAT", "JSON", "must be console or json"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(name: str, value: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as refused:
        read_settings({**PRODUCTION, name: value})
    said = str(refused.value)
    assert name in said
    assert "\n" not in said
    assert not {"secret", "sec", "ret"} & set(said.replace("'", " ").split())
