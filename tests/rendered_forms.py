"""What a page asks for: its forms with their fields, as a browser would send them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

_UNSENT = ("submit", "button", "image", "reset", "file")
_TYPED = {"text": "x", "search": "x", "email": "new@example.org", "password": "correct horse battery staple"}


@dataclass
class Control:
    """`untouched`: what a browser sends for it as it stands; None for nothing. `sent`: the same, or after somebody
    typed something where it is empty. `free`: any text can be typed into it. `value`: what it says of itself.
    `offered`: what can be chosen."""

    name: str
    kind: str
    sent: str | None
    free: bool
    value: str = ""
    untouched: str | None = None
    offered: list[str] = field(default_factory=list)


@dataclass
class RenderedForm:
    method: str
    action: str
    controls: list[Control] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(one.name for one in self.controls))

    def valid(self) -> list[tuple[str, str]]:
        return [(one.name, one.sent) for one in self.controls if one.sent is not None]

    def untouched(self) -> dict[str, str | list[str]]:
        """As a browser sends it when nothing is typed; several of one name are a list."""
        sent: dict[str, list[str]] = {}
        for one in self.controls:
            if one.untouched is not None:
                sent.setdefault(one.name, []).append(one.untouched)
        return {name: values if len(values) > 1 else values[0] for name, values in sent.items()}

    def buttons(self) -> list[tuple[str, str]]:
        """What each of its buttons would add."""
        return [(one.name, one.value) for one in self.controls if one.kind == "submit"]


class Rendered(HTMLParser):
    """`forms` in their order; a button that sends the form elsewhere makes one of its own."""

    def __init__(self, text: str, url: str) -> None:
        super().__init__()
        self.url, self.forms = url, list[RenderedForm]()
        self._open: RenderedForm | None = None
        self._ids: dict[str, RenderedForm] = {}
        self._choice: Control | None = None
        self._text: Control | None = None
        self.feed(text)

    def controls_to(self, action: str) -> list[Control]:
        """Of what asks that address, such as the filters of a list."""
        return [one for form in self.forms if (form.method, form.action) == ("get", action) for one in form.controls]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = self._named(given["id"]) if given.get("id") else RenderedForm("get", "")
            self._open.method = given.get("method", "get").lower()
            self._open.action = urlsplit(given.get("action") or self.url).path
            self.forms.append(self._open)
        elif tag == "option" and self._choice:
            self._choice.offered.append(given.get("value", ""))
            if "selected" in given or not self._choice.sent:
                self._choice.sent = given.get("value", "")
            if "selected" in given or self._choice.untouched is None:
                self._choice.untouched = given.get("value", "")
        elif given.get("name") and tag in ("input", "button", "select", "textarea"):
            self._control(tag, given)

    def _named(self, form_id: str) -> RenderedForm:
        """What belongs to it may stand before it, as the boxes of a list do."""
        return self._ids.setdefault(form_id, RenderedForm("get", ""))

    def _control(self, tag: str, given: dict[str, str]) -> None:
        form = self._named(given["form"]) if given.get("form") else self._open
        if form is None:
            return
        kind = given.get("type", "text" if tag == "input" else "submit" if tag == "button" else tag)
        value, free = given.get("value", ""), kind in ("text", "search", "hidden", "textarea")
        control = Control(given["name"], kind, value, free, value)
        if kind in ("checkbox", "radio"):
            control.sent = given.get("value", "on") if "checked" in given else None
        else:
            control.sent = None if kind in _UNSENT else control.sent or _TYPED.get(kind, "")
        if kind not in _UNSENT and tag != "select":
            control.untouched = control.sent if kind in ("checkbox", "radio") else value
        form.controls.append(control)
        if "formaction" in given:
            self.forms.append(RenderedForm(form.method, urlsplit(given["formaction"]).path, form.controls))
        self._choice = control if tag == "select" else self._choice
        self._text = control if tag == "textarea" else self._text

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.sent = (self._text.sent or "") + data
            self._text.untouched = self._text.sent.removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "select":
            self._choice = None
        elif tag == "textarea" and self._text is not None:
            self._text.sent = self._text.sent or "x"
            self._text = None


def asked_with(text: str, url: str) -> dict[str, str | list[str]]:
    """What the form of a question that is posted to `url` sends, when nothing is typed."""
    path = urlsplit(url).path
    (form,) = [one for one in Rendered(text, url).forms if (one.method, one.action) == ("post", path)]
    return form.untouched()
