"""What a mail says, and how it becomes a message of text and HTML. Pure."""

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape
from urllib.parse import urlsplit

# Mail programs read no sheets: what a letter looks like stands in it.
_BODY = "font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#1f2937;max-width:36em;margin:0 auto;padding:1.5em"
_BUTTON = "display:inline-block;padding:.6em 1.2em;background:#1b64b5;color:#fff;text-decoration:none;border-radius:6px"
_SMALL = "color:#6b7280;font-size:14px"


@dataclass(frozen=True, slots=True)
class Letter:
    """`lines` are paragraphs. `link` is a label and an address; its address also stands below as text. `after` are paragraphs in small
    letters. `unsubscribe_url` takes a POST that ends mails of this kind (RFC 8058); "" for letters that can't be switched off."""

    to: str
    subject: str
    lines: tuple[str, ...]
    link: tuple[str, str] | None = None
    after: tuple[str, ...] = ()
    unsubscribe_url: str = ""


@dataclass(frozen=True, slots=True)
class MailHead:
    """`key` is the UUID of this message, and `thread` that of the one that it replies to. `site` is the portal's address."""

    sender: str
    site: str
    key: str
    thread: str | None
    sent_at: datetime


def message_of(letter: Letter, head: MailHead) -> "EmailMessage[str, str]":
    """Raises ValueError where the address of a header would have a line break."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = head.sender, letter.to, " ".join(letter.subject.split())
    message["Date"] = format_datetime(head.sent_at)
    message["Message-ID"] = _message_id(head.key, head.site)
    if head.thread:
        message["In-Reply-To"] = message["References"] = _message_id(head.thread, head.site)
    # So that no answering machine answers (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    if letter.unsubscribe_url:
        message["List-Unsubscribe"] = f"<{letter.unsubscribe_url}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(_text(letter, head.site))
    message.add_alternative(_html(letter, head.site), subtype="html")
    return message


def _message_id(key: str, site: str) -> str:
    return f"<{key}@{urlsplit(site).hostname}>"


def _text(letter: Letter, site: str) -> str:
    link = [": ".join(letter.link)] if letter.link else []
    return "\n\n".join([*letter.lines, *link, *letter.after, f"Muster, {site}"]) + "\n"


def _html(letter: Letter, site: str) -> str:
    said = "".join(f"<p>{escape(line)}</p>" for line in letter.lines)
    if letter.link:
        label, url = (escape(part) for part in letter.link)
        said += f'<p><a href="{url}" style="{_BUTTON}">{label}</a></p><p style="{_SMALL}">Or open {url}</p>'
    said += "".join(f'<p style="{_SMALL}">{escape(line)}</p>' for line in (*letter.after, f"Muster, {site}"))
    title = escape(letter.subject)
    return f'<!doctype html><html lang="en"><title>{title}</title><body style="{_BODY}">{said}</body></html>'
