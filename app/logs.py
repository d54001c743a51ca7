"""Log lines of every process: to stderr, for people or as JSON. No secret passes here.

Secrets are kept out several times: `Secret` shows nothing of itself, fields whose name speaks of one are masked, and so
is the password of any address in a text. Tracebacks come without the values of variables.
"""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

MASK = "…"
_TELLTALE = re.compile(r"passw|secret|token|otp|authorization|cookie|credential|api_?key", re.IGNORECASE)
_ADDRESS_PASSWORD = re.compile(r"(?<=://)([^\s/@:]*):[^\s/@]+(?=@)")
# Addresses whose last part is a secret: who has it may do what the page does.
_SECRET_PATH = re.compile(r"(/(?:ping|welcome|mail/unsubscribe)/)[^/?\s]+")
# What PostgreSQL adds to an error quotes rows, and rows hold people.
_QUOTED_ROW = re.compile(r"^(DETAIL: ).*$", re.MULTILINE)
# They tell every step of every job at INFO; ours say the same once, with the job's name.
_CHATTY = ("saq", "uvicorn.access", "httpx", "httpcore", "alembic", "psycopg.pool")


def configure(log_format: str) -> None:
    """Sets up logging of this process; called once at its start."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.PositionalArgumentsFormatter()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_rendering(log_format)],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


def _rendering(log_format: str) -> list[Processor]:
    if log_format == "json":
        return [structlog.processors.format_exc_info, mask, structlog.processors.JSONRenderer(ensure_ascii=False)]
    console = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
    return [structlog.processors.format_exc_info, mask, console]


def mask(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor."""
    for name, value in event.items():
        event[name] = _masked(name, value)
    return event


def _masked(name: str, value: Any) -> Any:
    if _TELLTALE.search(name):
        return MASK
    if isinstance(value, str):
        return _QUOTED_ROW.sub(
            rf"\1{MASK}", _SECRET_PATH.sub(rf"\1{MASK}", _ADDRESS_PASSWORD.sub(rf"\1:{MASK}", value))
        )
    if isinstance(value, Mapping):
        return {key: _masked(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(name, inner) for inner in value]
    return value
