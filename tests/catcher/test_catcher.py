"""The mail server of the demo, over SMTP and HTTP."""

import asyncio
from email.message import EmailMessage

import httpx
from aiosmtpd.smtp import SMTP

from app.catcher.mailbox import CaughtMails
from app.catcher.serving import application
from app.config.smtp import SmtpServer
from app.mail.server import MailServer


def mail(subject: str, text: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "muster@example.org", "ada@example.org", subject
    message.set_content(text)
    message.add_alternative("<p>The same, drawn.</p>", subtype="html")
    return message


async def test_what_is_sent_is_shown_and_its_links_can_be_opened() -> None:
    caught = CaughtMails()
    smtp = await asyncio.get_running_loop().create_server(lambda: SMTP(caught, hostname="catcher"), "127.0.0.1", 0)
    server = SmtpServer("127.0.0.1", smtp.sockets[0].getsockname()[1], "none")
    async with smtp, MailServer(server) as sending:
        await sending.send(
            mail("<b>One", "Open http://127.0.0.1:8000/welcome/a?b=1&c=2 now, <b>Ada</b>."), "ada@example.org", 60
        )
        await sending.send(mail("Two", "Nothing to open."), "ada@example.org", 60)
    transport = httpx.ASGITransport(app=application(caught))
    async with httpx.AsyncClient(transport=transport, base_url="http://mails") as browser:
        listed = (await browser.get("/")).text
        assert listed.index("Two") < listed.index("&lt;b&gt;One")
        shown = (await browser.get("/1")).text
        assert '<a href="http://127.0.0.1:8000/welcome/a?b=1&amp;c=2">' in shown
        assert "&lt;b&gt;Ada&lt;/b&gt;" in shown
        assert "drawn" not in shown
        assert (await browser.get("/style.css")).headers["content-type"].startswith("text/css")
        assert [(await browser.get(path)).status_code for path in ("/3", "/x", "/" + "9" * 30)] == [404, 404, 404]


async def test_before_the_first_mail_the_page_says_so() -> None:
    transport = httpx.ASGITransport(app=application(CaughtMails()))
    async with httpx.AsyncClient(transport=transport, base_url="http://mails") as browser:
        assert "No mail yet." in (await browser.get("/")).text


async def test_events_of_webhooks_are_shown_as_they_came() -> None:
    transport = httpx.ASGITransport(app=application(CaughtMails()))
    async with httpx.AsyncClient(transport=transport, base_url="http://mails") as browser:
        assert "No event yet." in (await browser.get("/webhooks")).text
        sent = await browser.post("/webhook", content=b'{"type":"<b>"}', headers={"webhook-id": "msg_1", "x": "other"})
        assert sent.status_code == 204
        shown = (await browser.get("/webhooks")).text
    assert "{&quot;type&quot;:&quot;&lt;b&gt;&quot;}" in shown
    assert ("webhook-id: msg_1" in shown, "other" in shown) == (True, False)
