"""The gallery as a small web server under the portal's own Content-Security-Policy: pages, fragments, static files."""

from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader

from app.dates import PageZone
from app.errors import NotFound
from app.vendor import ROOT
from app.web import templating
from app.web.transport import assets
from tests.gallery import data

CSP = "default-src 'self'; img-src 'self' data:"
PAGES = (
    "",
    "list",
    "empty",
    "filtered",
    "forms",
    "forms-errors",
    "visuals",
    "charts",
    "parts",
    "why",
    "confirm",
    "sign-in",
    "error",
    "error-bare",
)
FRAGMENTS = {"palette": "ui.palette_results(data.PALETTE, 'c5rf')", "people": "forms.options(people)"}


@cache
def environment() -> Environment:
    """The portal's own Jinja environment, which finds the gallery's pages too."""
    folders = [ROOT / "templates", Path(__file__).parent / "pages"]
    return templating.environment().overlay(loader=FileSystemLoader(folders))


def context(path: str) -> dict[str, Any]:
    """What the shell needs, and the sample data."""
    menu = [{**g, "items": [{**i, "active": i["url"] == path} for i in g["items"]]} for g in data.MENU]
    return {
        "menu": menu, "workspace": "Acme Manufacturing", "user": {"name": "Bob Operator", "email": "bob@acme.example"},
        "csrf_token": "c5rf", "flashes": [], "keys": True, "data": data, "query": {}, "path": path,
        "zone": PageZone.at(ZoneInfo("Europe/Zagreb"), data.NOW),
    }  # fmt: skip


def render(path: str, block: str | None = None, **more: Any) -> str:
    """The HTML of one page, or of one of its blocks as htmx would get it."""
    template = environment().get_template(f"{path.strip('/') or 'dashboard'}.html")
    given = {**context(path), **more}
    if block is None:
        return template.render(given)
    return "".join(template.blocks[block](template.new_context(given)))


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answers static files, fragments for htmx, and pages."""
        address = urlsplit(self.path)
        name, target = address.path.strip("/"), self.headers.get("HX-Target", "")
        if name.startswith("static/"):
            self.send_file(name.removeprefix("static/"))
        elif name in FRAGMENTS and "HX-Request" in self.headers:
            self.send(fragment(FRAGMENTS[name]))
        elif name in PAGES:
            block = target if target in ("drawer", "dialog") else None
            self.send(render(address.path, block=block, query=parse_qs(address.query)))
        else:
            self.send("not here", status=404)

    def do_POST(self) -> None:
        """Every act is answered with the confirmation, as the portal answers a bulk act."""
        self.send(render("/confirm", block="dialog"))

    def send_file(self, path: str) -> None:
        try:
            found = assets.asset(assets.named(path)[0])
        except NotFound:
            self.send("not here", status=404)
        else:
            self.send(found.bodies[""], kind=found.kind)

    def send(self, body: str | bytes, status: int = 200, kind: str = "text/html; charset=utf-8") -> None:
        raw = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for header, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(raw))),
            ("Content-Security-Policy", CSP),
            ("X-Content-Type-Options", "nosniff"),
        ):
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Keeps the terminal quiet."""


def fragment(call: str) -> str:
    people = [{"value": str(n), "label": name, "hint": f"ID {1000 + n}"} for n, name in enumerate(data.NAMES)]
    return environment().from_string("{{ " + call + " }}").render(data=data, people=people)


def serve(port: int = 0) -> ThreadingHTTPServer:
    """A server bound to the loopback address; port 0 takes a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)
