"""The pages of the catcher: a list that reloads itself, and one mail. HTML without script."""

import re
from html import escape

from app.catcher.events import CaughtEvents
from app.catcher.mailbox import CaughtMail, CaughtMails

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:1.5rem auto;padding:0 1rem;color:#1c2430;background:#fbfbf9}
h1{font-size:1.4rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem}
th,td{border-bottom:1px solid #dfe2e6;overflow-wrap:anywhere}pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit}
a{color:#0b57b0}
@media(prefers-color-scheme:dark){body{color:#e6e9ed;background:#14181d}th,td{border-color:#333b45}a{color:#8ab8ff}}
"""
_LINK = re.compile(r"https?://[^\s<>]+")


def draw_list(caught: CaughtMails) -> str:
    rows = "".join(
        f'<tr><td>{one.at:%H:%M:%S} UTC</td><td>{escape(one.to)}</td><td><a href="/{one.number}">{escape(one.subject)}</a></td></tr>'
        for one in reversed(caught.mails)
    )
    table = f"<table><tr><th>Time</th><th>To</th><th>Subject</th></tr>{rows}</table>"
    said = table if rows else "<p>No mail yet. This page reloads by itself.</p>"
    events = '<p><a href="/webhooks">Events of webhooks</a></p>'
    return _page("Caught mails", f"{said}<p>These mails went no further.</p>{events}", reloads=True)


def draw_events(events: CaughtEvents) -> str:
    rows = "".join(
        f"<tr><td>{one.at:%H:%M:%S} UTC</td><td><pre>{escape(one.body)}</pre></td><td><pre>{escape(_listed(one.signed))}</pre></td></tr>"
        for one in reversed(events.events)
    )
    table = f"<table><tr><th>Time</th><th>Body</th><th>Signed</th></tr>{rows}</table>"
    said = table if rows else "<p>No event yet. This page reloads by itself.</p>"
    return _page("Events of webhooks", f'{said}<p><a href="/">Mails</a></p>', reloads=True)


def _listed(headers: dict[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in sorted(headers.items()))


def draw_mail(one: CaughtMail) -> str:
    """Its text alone: what the HTML of a mail would load or run stays out."""
    text = _LINK.sub(lambda found: f'<a href="{escape(found[0])}">{escape(found[0])}</a>', _escaped_but_links(one.text))
    about = f"<p>To {escape(one.to)}, {one.at:%H:%M:%S} UTC</p>"
    return _page(one.subject, f'{about}<pre>{text}</pre><p><a href="/">All mails</a></p>')


def _escaped_but_links(text: str) -> str:
    """Links are escaped when they become one."""
    parts = re.split(f"({_LINK.pattern})", text)
    return "".join(part if place % 2 else escape(part) for place, part in enumerate(parts))


def _page(title: str, body: str, *, reloads: bool = False) -> str:
    refresh = '<meta http-equiv="refresh" content="3">' if reloads else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{refresh}<meta name="viewport" content="width=device-width">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="/style.css"></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
