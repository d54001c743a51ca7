"""A real mail server on the loopback that keeps what it gets, and refuses or stalls where it is told to."""

import asyncio
import email
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


@dataclass
class Mailbox:
    """`answers` are given to the next messages in place of 250, in turn; `refused` recipients get `refusal`.
    `signed_in` are the names and passwords of those who signed in.
    It keeps a message at once, but answers it `answers_after_s`."""

    port: int = 0
    messages: list[EmailMessage] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    refusal: str = "550 There is no such mailbox"
    signed_in: list[tuple[str, str]] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    answers_after_s: float = 0

    async def handle_RCPT(self, _: Any, __: Any, envelope: Any, address: str, ___: Any) -> str:  # noqa: N802 - aiosmtpd's name
        if address in self.refused:
            return self.refusal
        envelope.rcpt_tos.append(address)
        self.recipients.append(address)
        return "250 OK"

    async def handle_DATA(self, _: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        if self.answers:
            return self.answers.pop(0)
        self.messages.append(email.message_from_bytes(envelope.content, policy=default))  # type: ignore[arg-type]
        self.encrypted.append(session.ssl is not None)
        await asyncio.sleep(self.answers_after_s)
        return "250 OK"

    def sign_in(self, _: Any, __: Any, ___: Any, ____: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.signed_in.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=True)

    @property
    def subjects(self) -> list[str]:
        return [str(one["Subject"]) for one in self.messages]


@asynccontextmanager
async def open_mailbox(*, certificate: Path | None = None) -> AsyncIterator[Mailbox]:
    """With a certificate (and its key in one file) the server offers STARTTLS, and takes nothing before it."""
    box = Mailbox()
    tls = None
    if certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate)

    def protocol() -> SMTP:
        return SMTP(
            box, hostname="mail.test", tls_context=tls, require_starttls=tls is not None, authenticator=box.sign_in
        )

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    box.port = server.sockets[0].getsockname()[1]
    try:
        yield box
    finally:
        server.close()


def text_of(message: EmailMessage) -> str:
    part = message.get_body(("plain",))
    assert part is not None
    return str(part.get_content())


def html_of(message: EmailMessage) -> str:
    part = message.get_body(("html",))
    assert part is not None
    return str(part.get_content())
