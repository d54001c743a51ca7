"""Settings of one Muster process, read once from the environment. No defaults live elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from app.config import hosts
from app.config.smtp import SmtpServer, read_sender, read_server
from app.texts import whole

REQUIRED_IN_PRODUCTION = (
    "MUSTER_DATABASE_URL",
    "MUSTER_SECRET_KEYS",
    "MUSTER_BASE_URL",
)

_ESCAPED = "; in a password, write / @ : [ and ] as %2F %40 %3A %5B and %5D"
_PORTS = {"http": ":80", "https": ":443"}


class ConfigError(Exception):
    """The environment is unusable; the message is one line that says what to set."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says. `database_url` and `owner_database_url` are None when the embedded database is meant;
    `secret_keys` is None when keys are generated into the data directory. The pools are the connections to the database
    that one process opens at most; `worker_pool` 0: as many as the worker's jobs need."""

    env: Literal["development", "production"]
    data_dir: Path
    database_url: str | None
    owner_database_url: str | None
    direct_database_url: str | None
    replica_database_url: str | None
    pooler: Literal["none", "session", "transaction"]
    secret_keys: str | None
    base_url: str
    allowed_hosts: tuple[str, ...]
    outbound_allow: str
    trusted_proxies: int
    api_rate: int
    keep_alive_s: int
    drain_s: int
    web_pool: int
    export_pool: int
    worker_pool: int
    log_format: Literal["console", "json"]
    smtp: SmtpServer | None = None
    mail_from: str | None = None
    ping_url: str | None = None

    def goes_through_pooler(self, url: str) -> bool:
        """True for an address of the database behind which a pooler stands."""
        return self.pooler != "none" and url != self.direct_database_url

    @property
    def production(self) -> bool:
        return self.env == "production"

    @property
    def secure(self) -> bool:
        """True when cookies may demand HTTPS."""
        return self.base_url.startswith("https://")


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Raises ConfigError naming everything that is missing or malformed."""
    env = environ.get("MUSTER_ENV", "development")
    if env not in ("development", "production"):
        raise ConfigError(f"MUSTER_ENV is {env!r}; it must be development or production")
    if env == "production":
        _refuse_missing(environ)
    base_url = _base_url(environ)
    pooler, direct = _pooler(environ), _postgres_url(environ, "MUSTER_DIRECT_DATABASE_URL")
    mail_server, mail_from = _mail(environ)
    if pooler == "transaction" and direct is None:
        raise ConfigError(
            "MUSTER_POOLER=transaction needs MUSTER_DIRECT_DATABASE_URL: workers and commands go past the pooler"
        )
    return Settings(
        env="production" if env == "production" else "development",
        data_dir=Path(environ.get("MUSTER_DATA_DIR", ".muster")).absolute(),
        database_url=_postgres_url(environ, "MUSTER_DATABASE_URL"),
        owner_database_url=_postgres_url(environ, "MUSTER_OWNER_DATABASE_URL"),
        direct_database_url=direct,
        replica_database_url=_postgres_url(environ, "MUSTER_REPLICA_DATABASE_URL", reads_only=True),
        pooler=pooler,
        secret_keys=environ.get("MUSTER_SECRET_KEYS") or None,
        base_url=base_url,
        allowed_hosts=_hosts(environ, base_url),
        outbound_allow=environ.get("MUSTER_OUTBOUND_ALLOW", ""),
        trusted_proxies=_whole_number(environ, "MUSTER_TRUSTED_PROXIES", 0),
        api_rate=_whole_number(environ, "MUSTER_API_RATE", 600),
        keep_alive_s=_whole_number(environ, "MUSTER_KEEP_ALIVE_S", 75),
        drain_s=_whole_number(environ, "MUSTER_DRAIN_S", 5),
        web_pool=_whole_number(environ, "MUSTER_WEB_POOL", 10, least=2),
        export_pool=_whole_number(environ, "MUSTER_EXPORT_POOL", 4, least=1),
        worker_pool=_whole_number(environ, "MUSTER_WORKER_POOL", 0),
        log_format=_log_format(environ),
        smtp=mail_server,
        mail_from=mail_from,
        ping_url=_ping_url(environ),
    )


def _refuse_missing(environ: Mapping[str, str]) -> None:
    missing = [name for name in REQUIRED_IN_PRODUCTION if not environ.get(name)]
    if missing:
        raise ConfigError(f"MUSTER_ENV=production needs {', '.join(missing)}")
    app, owner = (_postgres_url(environ, f"MUSTER_{name}DATABASE_URL") for name in ("", "OWNER_"))
    if owner and app and hosts.read(owner).user == hosts.read(app).user:
        raise ConfigError("MUSTER_DATABASE_URL and MUSTER_OWNER_DATABASE_URL must name two different roles")


def _postgres_url(environ: Mapping[str, str], name: str, *, reads_only: bool = False) -> str | None:
    """Says nothing of the value, which holds a password."""
    value = environ.get(name)
    if not value:
        return None
    if not value.startswith(("postgresql://", "postgres://")):
        raise ConfigError(f"{name} must start with postgresql://")
    try:
        address = hosts.read(value)
    except ValueError as error:
        raise ConfigError(f"{name} is not an address: {error}{_ESCAPED}") from None
    if not reads_only and address.wanted not in (None, *hosts.TAKES_CHANGES):
        raise ConfigError(f"{name} must lead to a server that takes changes: target_session_attrs=read-write")
    return value


def _base_url(environ: Mapping[str, str]) -> str:
    """As browsers write an origin: in lower case, without the port that is meant anyway."""
    value = environ.get("MUSTER_BASE_URL") or "http://127.0.0.1:8000"
    address = _split(value)
    if address is None or address.scheme not in _PORTS or not address.hostname or "@" in address.netloc:
        raise ConfigError(f"MUSTER_BASE_URL is {value!r}; it must be an address such as https://muster.example")
    if address.path not in ("", "/") or address.query or address.fragment:
        raise ConfigError(
            f"MUSTER_BASE_URL is {value!r}; it must end with the host or the port: Muster can't run below a path"
        )
    return f"{address.scheme}://{address.netloc.lower().removesuffix(_PORTS[address.scheme])}"


def _split(value: str) -> SplitResult | None:
    """None for what is not an address. The port is read only when it is asked for."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return None
    return None if port == 0 else parts


def _pooler(environ: Mapping[str, str]) -> Literal["none", "session", "transaction"]:
    match environ.get("MUSTER_POOLER") or "none":
        case "none":
            return "none"
        case "session":
            return "session"
        case "transaction":
            return "transaction"
        case value:
            raise ConfigError(f"MUSTER_POOLER is {value!r}; it must be none, session or transaction")


def _mail(environ: Mapping[str, str]) -> tuple[SmtpServer | None, str | None]:
    """Server and sender, both or neither. Says nothing of the server's address, which holds a password."""
    url, sender = environ.get("MUSTER_SMTP_URL"), environ.get("MUSTER_MAIL_FROM")
    if not url and not sender:
        return None, None
    if not url or not sender:
        raise ConfigError("Mail needs MUSTER_SMTP_URL and MUSTER_MAIL_FROM; set both or neither")
    try:
        server = read_server(url)
    except ValueError as error:
        raise ConfigError(f"MUSTER_SMTP_URL is not usable: {error}{_ESCAPED}") from None
    try:
        return server, read_sender(sender)
    except ValueError as error:
        raise ConfigError(f"MUSTER_MAIL_FROM is not an address: {error}") from None


def _ping_url(environ: Mapping[str, str]) -> str | None:
    """Says nothing of the value: what stands in it is what the monitor knows Muster by."""
    value = environ.get("MUSTER_PING_URL")
    if not value:
        return None
    address = _split(value)
    if address is None or address.scheme not in _PORTS or not address.hostname or "@" in address.netloc:
        raise ConfigError("MUSTER_PING_URL is no address; write it like https://monitor.example/ping/…")
    if address.fragment or not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(
            "MUSTER_PING_URL has a space, a # or a letter beyond ASCII; write these as %20, %23 and so on"
        )
    return value


def _log_format(environ: Mapping[str, str]) -> Literal["console", "json"]:
    match environ.get("MUSTER_LOG_FORMAT") or "console":
        case "console":
            return "console"
        case "json":
            return "json"
        case value:
            raise ConfigError(f"MUSTER_LOG_FORMAT is {value!r}; it must be console or json")


def _hosts(environ: Mapping[str, str], base_url: str) -> tuple[str, ...]:
    named = environ.get("MUSTER_ALLOWED_HOSTS", "")
    hosts = [host.strip().lower() for host in named.split(",") if host.strip()]
    return tuple(hosts or [str(urlsplit(base_url).hostname)])


def _whole_number(environ: Mapping[str, str], name: str, default: int, *, least: int = 0) -> int:
    value = environ.get(name, "")
    if not value:
        return default
    number = whole(value, 9)
    if number is None:
        raise ConfigError(f"{name} is {value!r}; it must be a whole number of at most nine digits")
    if number < least:
        raise ConfigError(f"{name} is {value!r}; it must be at least {least}")
    return number
