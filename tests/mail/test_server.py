"""The connection to the mail server: what it asks for, and what is said where it does not hold."""

import asyncio
from email.message import EmailMessage
from pathlib import Path

import pytest

from app.config.smtp import SmtpServer
from app.mail import server as mail_server
from app.mail.server import MailRefused, MailServer, MailServerError
from tests.fakes.certificates import certify
from tests.fakes.mailbox import open_mailbox


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For 127.0.0.1, signed by itself; key and certificate in one file."""
    made = certify("mail.test", addresses=("127.0.0.1",))
    both = tmp_path_factory.mktemp("certificate") / "both.pem"
    both.write_bytes(made.key + made.certificate)
    return both


def mail() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "muster@example.org", "ada@example.org"
    message.set_content("Hello")
    return message


async def send(server: SmtpServer) -> None:
    async with MailServer(server) as opened:
        await opened.send(mail(), "ada@example.org", 20)


async def test_a_certificate_of_an_unknown_authority_is_refused(certificate: Path) -> None:
    async with open_mailbox(certificate=certificate) as box:
        with pytest.raises(MailServerError, match="certificate of the mail server does not hold"):
            await send(SmtpServer("127.0.0.1", box.port, "starttls", "ada", "secret"))
    assert box.signed_in == []


async def test_the_password_is_sent_once_the_connection_is_encrypted(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with open_mailbox(certificate=certificate) as box:
        await send(SmtpServer("127.0.0.1", box.port, "starttls", "ada", "secret"))
    assert box.signed_in == [("ada", "secret")]
    assert box.encrypted == [True]


async def test_a_server_without_encryption_gets_nothing() -> None:
    async with open_mailbox() as box:
        with pytest.raises(MailServerError):
            await send(SmtpServer("127.0.0.1", box.port, "starttls", "ada", "secret"))
    assert (box.messages, box.signed_in) == ([], [])


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_server, "PATIENCE_S", 0.2)

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    async with silent:
        with pytest.raises(MailServerError, match="did not answer in time"):
            await send(SmtpServer("127.0.0.1", silent.sockets[0].getsockname()[1], "none"))


async def test_all_that_a_message_takes_is_bounded_together() -> None:
    """Each command is answered in time, and all of them are not."""

    async def take_time(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test\r\n")
        while await reader.readline():
            await asyncio.sleep(0.2)
            writer.write(b"250 OK\r\n")
        writer.close()

    slow = await asyncio.start_server(take_time, "127.0.0.1", 0)
    async with slow, MailServer(SmtpServer("127.0.0.1", slow.sockets[0].getsockname()[1], "none")) as opened:
        with pytest.raises(MailServerError, match="did not answer in time"):
            await opened.send(mail(), "ada@example.org", 0.5)


async def test_the_recipient_alone_gets_it_whatever_the_head_says() -> None:
    async with open_mailbox() as box, MailServer(SmtpServer("127.0.0.1", box.port, "none")) as opened:
        message = mail()
        message["Cc"] = "eve@evil.example"
        await opened.send(message, "ada@example.org", 20)
    assert box.recipients == ["ada@example.org"]


async def test_an_address_that_the_server_cannot_take_is_refused_alone() -> None:
    async with open_mailbox() as box, MailServer(SmtpServer("127.0.0.1", box.port, "none")) as opened:
        with pytest.raises(MailRefused) as refused:
            await opened.send(mail(), "jörg@example.org", 20)
        assert refused.value.for_good
        await opened.send(mail(), "ada@example.org", 20)
    assert len(box.messages) == 1
