"""An installation that sends mail, and the server that gets it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.config import Settings, read_settings
from app.db.session import PLATFORM
from app.host import jobs
from app.jobs import Claim
from app.parts import Parts
from tests.conftest import BASE_URL, KEYS
from tests.fakes.mailbox import Mailbox, open_mailbox


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    async with open_mailbox() as box:
        yield box


@pytest.fixture
def settings(tmp_path: Path, mailbox: Mailbox) -> Settings:
    return read_settings(
        {
            "MUSTER_DATA_DIR": str(tmp_path),
            "MUSTER_SECRET_KEYS": KEYS,
            "MUSTER_BASE_URL": BASE_URL,
            "MUSTER_SMTP_URL": f"smtp://127.0.0.1:{mailbox.port}?starttls=none",
            "MUSTER_MAIL_FROM": "Muster <muster@example.org>",
        }
    )


async def send(parts: Parts, workspace: str = PLATFORM) -> None:
    """What the worker's job does."""
    await jobs.send_mail(parts, Claim(1, 1, workspace, "send_mail", {}))
