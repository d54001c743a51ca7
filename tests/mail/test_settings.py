import pytest

from app.config import ConfigError, read_settings
from app.config.smtp import SmtpServer, read_sender, read_server

SECRET = "s3cr/et"


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example", SmtpServer("mail.example", 587, "starttls")),
        ("smtp://mail.example:2525?starttls=required", SmtpServer("mail.example", 2525, "starttls")),
        ("smtp://mail.example?starttls=none", SmtpServer("mail.example", 25, "none")),
        ("smtps://ada:p%40ss@mail.example/", SmtpServer("mail.example", 465, "tls", "ada", "p@ss")),
        ("smtp://ada:x@127.0.0.1?starttls=none", SmtpServer("127.0.0.1", 25, "none", "ada", "x")),
    ],
)
def test_an_address_of_a_mail_server(url: str, server: SmtpServer) -> None:
    assert read_server(url) == server


@pytest.mark.parametrize(
    "url",
    [
        f"http://a:{SECRET}@mail.example",
        f"smtp://a:{SECRET.replace('/', '')}@mail.example?starttls=none",
        "smtp://mail.example?starttls=maybe",
        "smtp://mail.example?tls=1",
        "smtp://mail.example:99999",
        "smtp://a:s3cret",
        "smtp://mail.example/inbox",
        "smtp://",
        "mail.example",
    ],
)
def test_an_address_that_cannot_be_meant_is_refused_without_telling_it(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_settings({"MUSTER_SMTP_URL": url, "MUSTER_MAIL_FROM": "muster@example.org"})
    assert str(refused.value).startswith("MUSTER_SMTP_URL is not usable")
    assert "s3cr" not in str(refused.value)


@pytest.mark.parametrize("one", ["MUSTER_SMTP_URL", "MUSTER_MAIL_FROM"])
def test_server_and_sender_belong_together(one: str) -> None:
    with pytest.raises(ConfigError, match="set both or neither"):
        read_settings({one: "smtps://mail.example"})


def test_without_them_mail_is_off() -> None:
    assert read_settings({}).smtp is None


@pytest.mark.parametrize(
    ("value", "sender"),
    [
        ("muster@example.org", "Muster <muster@example.org>"),
        ("Time Office <time@example.org>", "Time Office <time@example.org>"),
    ],
)
def test_a_sender(value: str, sender: str) -> None:
    assert read_sender(value) == sender


@pytest.mark.parametrize("value", ["muster", "a@b", "Muster <a@b.c>\nBcc: x@y.z"])
def test_a_sender_that_is_no_address(value: str) -> None:
    with pytest.raises(ValueError, match="write muster@example"):
        read_sender(value)
