"""Turns what an author typed or pasted as a message into the markup of messages. Pure.

Only the editor's form does this, and only to a message that somebody changed there. Files, the APIs and stored messages
keep their bytes, so that an unchanged consent keeps its hash.
"""

import re
from typing import Final

from app.surveys.authoring.content import sanitise, too_much_to_read
from app.texts import trimmed

# Other elements for allowed markup, as word processors and web pages write them.
_ALIKE: Final = {
    "b": "strong",
    "i": "em",
    "del": "s",
    "strike": "s",
    "ins": "u",
    "div": "p",
    "h1": "h3",
    "h2": "h3",
    "h5": "h4",
    "h6": "h4",
    "pre": "code",
}
_OTHER_NAME = re.compile(rf"(?i)(</?)({'|'.join(_ALIKE)})(?=[\s/>])")
_BLOCK = re.compile(r"(?i)</?(?:p|ul|ol|li|blockquote|h3|h4)(?=[\s/>])")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def typed_message(text: str) -> str:
    """The message with `<b>` as `<strong>` and similar, and with blank lines as paragraphs; not yet sanitised."""
    text = trimmed(text)
    if too_much_to_read(text):
        return text
    known = _OTHER_NAME.sub(lambda tag: tag[1] + _ALIKE[tag[2].lower()], text)
    parts = _BLANK_LINES.split(known)
    message = known if len(parts) == 1 else "\n".join(map(_paragraph, parts))
    # Markup that is removed between two lines leaves a blank line,
    # which would become a paragraph when the author saves again.
    return message.replace("\n", " ") if _BLANK_LINES.search(sanitise(message).html) else message


def _paragraph(part: str) -> str:
    """Makes a part between blank lines a paragraph, unless it consists of blocks already."""
    lines = part.replace("\n", "<br>\n")
    return part if _BLOCK.search(part) else f"<p>{lines}</p>"
