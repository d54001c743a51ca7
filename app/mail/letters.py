"""What a mail says, and how it becomes a message of text and HTML. It knows no database and no clock."""

from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import Policy, default
from email.utils import format_datetime
from html import escape
from urllib.parse import urlsplit

from app.wording.marked import marked, worded
from app.wording.speech import ENGLISH_SPEECH, Speech

# Many mail programs ignore style sheets, so the styles are in the letter itself. The sheet is only for dark mode.
_BODY = (
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#1f2937;background:#fff;max-width:36em;margin:0 auto;"
    "padding:1.5em;overflow-wrap:anywhere"
)
_BUTTON = "display:inline-block;padding:.6em 1.2em;background:#1b64b5;color:#fff;text-decoration:none;border-radius:6px"
_SMALL = "color:#5b6472;font-size:14px"
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
    "<style>:root{color-scheme:light dark}@media(prefers-color-scheme:dark){body{color:#e6e9ed!important;background:#14181d!important}"
    ".small{color:#a9b2be!important}}</style>"
)
OR_OPEN, NO_MORE = marked("Or open"), marked("Get no more mails like this one")


class AddressHeader(UnstructuredHeader, BaseHeader):
    """Addresses in angle brackets, in one line: folded as other headers are, a long one becomes an encoded word, which
    no mail program takes for an address."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


_HEADERS = HeaderRegistry()
for _name in ("list-unsubscribe", "message-id", "in-reply-to", "references"):
    _HEADERS.map_to_type(_name, AddressHeader)
_POLICY = default.clone(header_factory=_HEADERS)


@dataclass(frozen=True, slots=True)
class Letter:
    """`lines` are paragraphs. `link` is a label and an address; its address also stands below as text. `after` are
    paragraphs in small letters. `unsubscribe_url` takes a POST that ends mails of this kind (RFC 8058), and stands
    below as a link; "" for letters that can't be switched off. `speech` is the language of all these texts."""

    to: str
    subject: str
    lines: tuple[str, ...]
    link: tuple[str, str] | None = None
    after: tuple[str, ...] = ()
    unsubscribe_url: str = ""
    speech: Speech = ENGLISH_SPEECH


@dataclass(frozen=True, slots=True)
class MailHead:
    """`key` is the UUID of this message, and `thread` that of the one that it replies to.
    `site` is the portal's address."""

    sender: str
    site: str
    key: str
    thread: str | None
    sent_at: datetime


def message_of(letter: Letter, head: MailHead) -> "EmailMessage[str, str]":
    """Raises ValueError when an address in a header would have a line break."""
    message = EmailMessage(_POLICY)
    message["From"], message["To"], message["Subject"] = head.sender, letter.to, " ".join(letter.subject.split())
    message["Date"] = format_datetime(head.sent_at)
    message["Message-ID"] = _message_id(head.key, head.site)
    if head.thread:
        message["In-Reply-To"] = message["References"] = _message_id(head.thread, head.site)
    # Tells automatic responders not to answer (RFC 3834).
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
    say = letter.speech
    link = [_addressed(say, *letter.link)] if letter.link else []
    ending = [_addressed(say, say(NO_MORE), letter.unsubscribe_url)] if letter.unsubscribe_url else []
    return "\n\n".join([*letter.lines, *link, *letter.after, *ending, f"Muster, {site}"]) + "\n"


def _addressed(say: Speech, label: str, address: str) -> str:
    """In French a space stands before the colon."""
    return say(worded("{label}: {address}", label=label, address=address))


def _html(letter: Letter, site: str) -> str:
    say = letter.speech
    said = "".join(f"<p>{escape(line)}</p>" for line in letter.lines)
    if letter.link:
        label, url = (escape(part) for part in letter.link)
        said += f'<p><a href="{url}" style="{_BUTTON}">{label}</a></p>'
        said += _small(f'{escape(say(OR_OPEN))} <span dir="ltr">{url}</span>')
    small = [escape(line) for line in letter.after]
    if letter.unsubscribe_url:
        small.append(
            f'<a href="{escape(letter.unsubscribe_url)}" class="small" style="{_SMALL}">{escape(say(NO_MORE))}</a>'
        )
    said += "".join(map(_small, (*small, escape(f"Muster, {site}"))))
    attributes = f'lang="{say.tag}" dir="{say.direction}"'
    head = f"<head>{_HEAD}<title>{escape(letter.subject)}</title></head>"
    return f'<!doctype html><html {attributes}>{head}<body style="{_BODY}">{said}</body></html>'


def _small(html: str) -> str:
    return f'<p class="small" style="{_SMALL}">{html}</p>'
