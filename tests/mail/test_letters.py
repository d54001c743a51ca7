from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.policy import SMTP

import pytest

from app.mail.letters import Letter, MailHead, message_of
from app.mail.retry_pauses import TRIED_FOR, next_attempt
from app.wording.speech import speech_in
from tests.fakes.mailbox import html_of, text_of

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
LETTER = Letter(
    "ada@example.org", "Café & <co>", ("Hello <Ada>,", "Öffne das."), ("Open", "https://muster.example/a?b=1&c=2")
)
HEAD = MailHead("Muster <muster@example.org>", "https://muster.example", "key-1", None, NOW)


def test_a_letter_says_the_same_as_text_and_as_html() -> None:
    message = message_of(LETTER, HEAD)
    assert message["Subject"] == "Café & <co>"
    assert message["Message-ID"] == "<key-1@muster.example>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert "Open: https://muster.example/a?b=1&c=2" in text_of(message)
    assert "Hello &lt;Ada&gt;," in html_of(message)
    assert 'href="https://muster.example/a?b=1&amp;c=2"' in html_of(message)
    assert message["List-Unsubscribe"] is None
    assert message["In-Reply-To"] is None


def test_what_one_may_switch_off_says_how() -> None:
    message = message_of(replace(LETTER, unsubscribe_url="https://muster.example/u/x"), replace(HEAD, thread="key-0"))
    assert message["List-Unsubscribe"] == "<https://muster.example/u/x>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert message["In-Reply-To"] == message["References"] == "<key-0@muster.example>"
    assert '<a href="https://muster.example/u/x"' in html_of(message)


def test_a_long_address_in_a_header_stays_an_address_on_its_way() -> None:
    """An encoded word is no address: without this the button of mail programs that ends such mails does nothing."""
    site = "https://time-and-attendance.of-a-company-with-a-long-name.example.org"
    url = f"{site}/mail/unsubscribe/1.alerts.8b53f3c849abdc13c39bc68eabbbcaa13bdd3eb3"
    head = MailHead(HEAD.sender, site, "81ae1481-a208-4500-938b-d2a70e697bdc", "0" * 36, NOW)
    sent = message_of(replace(LETTER, unsubscribe_url=url), head).as_bytes(policy=SMTP).decode()
    host = site.removeprefix("https://")
    for line in (
        f"List-Unsubscribe: <{url}>",
        f"Message-ID: <81ae1481-a208-4500-938b-d2a70e697bdc@{host}>",
        f"In-Reply-To: <{'0' * 36}@{host}>",
        f"References: <{'0' * 36}@{host}>",
    ):
        assert f"\r\n{line}\r\n" in sent


def test_a_letter_names_its_language_and_direction() -> None:
    url = "https://muster.example/u/x"
    arabic = message_of(replace(LETTER, unsubscribe_url=url, speech=speech_in("ar")), HEAD)
    assert '<html lang="ar" dir="rtl">' in html_of(arabic)
    assert f"إيقاف استلام رسائل كهذه: {url}" in text_of(arabic)
    assert '<html lang="en" dir="ltr">' in html_of(message_of(LETTER, HEAD))


def test_an_address_stands_after_a_colon_as_the_language_writes_it() -> None:
    url = "https://muster.example/u/x"
    french = text_of(message_of(replace(LETTER, unsubscribe_url=url, speech=speech_in("fr")), HEAD))
    assert "\n\nOpen\u00a0: https://muster.example/a?b=1&c=2\n\n" in french
    assert f"\u00a0: {url}\n\n" in french


def test_no_header_takes_a_line_break() -> None:
    message = message_of(replace(LETTER, subject="One\nBcc:\u2028two@example.org"), HEAD)
    assert (message["Subject"], message["Bcc"]) == ("One Bcc: two@example.org", None)
    with pytest.raises(ValueError, match="linefeed"):
        message_of(replace(LETTER, to="a@b.example\nBcc: two@example.org"), HEAD)


def test_the_pauses_grow_and_end_with_the_mail() -> None:
    at, tries = NOW, 0
    while (following := next_attempt(tries + 1, at, NOW + TRIED_FOR)) is not None:
        assert following > at
        at, tries = following, tries + 1
    assert NOW + TRIED_FOR - at <= timedelta(hours=1)
    assert 20 < tries < 40
    assert next_attempt(1, NOW, NOW + timedelta(seconds=30)) is None
