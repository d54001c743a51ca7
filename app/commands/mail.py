"""`mail:test` and `mail:catch`."""

from typing import TYPE_CHECKING

import click

from app.commands import children, frame

if TYPE_CHECKING:
    from app.config import Settings
    from app.config.smtp import SmtpServer


@click.command("mail:test")
@click.argument("address")
@frame.json_option
def mail_test(*, address: str, as_json: bool) -> None:
    """Send one mail to ADDRESS with MUSTER_SMTP_URL and MUSTER_MAIL_FROM, and say what the mail server answers."""
    from app.texts import EMAIL

    if not EMAIL.fullmatch(address):
        raise click.UsageError("give an e-mail address such as ada@example.org")
    settings = frame.settings_of_environment()
    if settings.smtp is None:
        frame.refuse("This server sends no mail: set MUSTER_SMTP_URL and MUSTER_MAIL_FROM.")
    frame.run(_send(settings.smtp, settings, address))
    server = f"{settings.smtp.host}:{settings.smtp.port}"
    document = {"sent_to": address, "server": server, "from": settings.mail_from}
    frame.answer(document, f"{server} took a mail for {address}. Look into that mailbox.", as_json=as_json)


async def _send(server: "SmtpServer", settings: "Settings", address: str) -> None:
    import uuid
    from datetime import UTC, datetime

    from app.mail.letters import Letter, MailHead, message_of
    from app.mail.sending import send_now
    from app.mail.server import MailRefused, MailServerError

    letter = Letter(address, "A test from Muster", ("Mail works. Somebody asked for this with muster mail:test.",))
    head = MailHead(settings.mail_from or "", settings.base_url, str(uuid.uuid4()), None, datetime.now(UTC))
    try:
        await send_now(server, message_of(letter, head), address)
    except (MailServerError, MailRefused) as error:
        frame.refuse(str(error))


@click.command("mail:catch")
@click.option("--port", type=click.IntRange(1, 65535), default=8025, show_default=True, help="Of the page.")
@click.option("--smtp-port", type=click.IntRange(1, 65535), default=8026, show_default=True)
def mail_catch(*, port: int, smtp_port: int) -> None:
    """Run a mail server that shows mails on a page and sends none, until it is interrupted."""
    from app.catcher.serving import catch

    if port == smtp_port:
        raise click.UsageError("give --port and --smtp-port two different ports")
    children.follow_parent()
    try:
        frame.run(catch(port, smtp_port, click.echo))
    except OSError as error:
        frame.refuse(f"The mail server cannot listen: {error.strerror or error}. Give --port and --smtp-port.")
    except KeyboardInterrupt:
        pass


COMMANDS = (mail_test, mail_catch)
