"""Log lines: for people or as JSON, and never with a secret."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from app import logs
from app.accounts.models import User
from app.db.session import Database
from app.secrets import Secret


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_a_json_line_has_time_level_name_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("json")
    structlog.get_logger("muster.jobs").info("job started", job=7)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["job"], line["level"], line["logger"]) == ("job started", 7, "info", "muster.jobs")
    assert line["timestamp"].endswith("Z")


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_secret_gets_into_a_line(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(form)
    log = structlog.get_logger("muster")
    log.info(
        "signed in",
        password="hunter2-a",
        detail={"Authorization": "JWT hunter2-b", "rows": [{"api_key": "hunter2-c"}]},
        url="postgresql://muster:hunter2-d@db/muster",
        secret=Secret("hunter2-e"),
        shown=Secret("hunter2-f"),
        path="/ping/hunter2-h",
        other="/mail/unsubscribe/hunter2-i/undo",
    )
    logging.getLogger("saq").error("cannot reach %s", "postgresql://u:hunter2-g@db")
    err = capsys.readouterr().err
    assert "hunter2" not in err
    assert "postgresql://muster:" in err


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_shows_no_values_of_variables(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(form)

    def fails(password: str) -> None:
        raise RuntimeError("it broke")

    try:
        fails("hunter2")
    except RuntimeError:
        structlog.get_logger("muster").exception("job failed")
    err = capsys.readouterr().err
    assert "it broke" in err
    assert "fails" in err
    assert "= hunter2" not in err
    assert "'hunter2'" not in err.replace('fails("hunter2")', "")


def test_chatty_libraries_are_quiet_and_what_they_warn_of_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("console")
    logging.getLogger("saq").info("Processing Job<…>")
    logging.getLogger("saq").warning("stuck")
    err = capsys.readouterr().err
    assert "Processing" not in err
    assert "stuck" in err


async def test_a_failed_statement_is_logged_without_its_row(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("console")
    try:
        async with database.shared_transaction() as db:
            values = {"workspace": "main", "email": "alice@example.org", "name": "hunter2"}
            await db.execute(insert(User).values(**values))
    except IntegrityError:
        structlog.get_logger("muster").exception("job failed")
    err = capsys.readouterr().err
    assert "users_email_key" in err
    assert "alice@example.org" not in err
    assert "hunter2" not in err.replace('"name": "hunter2"', "")
