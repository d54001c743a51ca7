"""What every template finds without importing: `icon`, `asset` and the component macros. The environment is made elsewhere."""

import hashlib
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from jinja2 import Environment

from app.vendor import ROOT
from app.web.icons import icon

# Global name in templates: file of macros. A block rendered alone sees no import, so macros must be globals.
COMPONENTS: Final = MappingProxyType(
    {
        "ui": "components/ui.html",
        "lists": "components/lists.html",
        "forms": "components/forms.html",
        "dialogs": "components/dialogs.html",
        "visuals": "components/visuals.html",
        "timeline": "components/timeline.html",
    }
)


def install(environment: Environment) -> None:
    """Adds the globals to an environment. Macros render without the page's context: they see arguments and globals only."""
    environment.globals.update(icon=icon, asset=asset)
    for name, path in COMPONENTS.items():
        environment.globals[name] = environment.get_template(path).module


def asset(path: str) -> str:
    """Address of a file below `static/`, with its content's hash so that it may be cached for ever."""
    if path.startswith("vendor/"):  # the version is in the path already
        return f"/static/{path}"
    return f"/static/{path}?v={_digest(path, (ROOT / 'static' / path).stat().st_mtime_ns)}"


@lru_cache(maxsize=256)
def _digest(path: str, _changed: int) -> str:
    return hashlib.sha256((ROOT / "static" / path).read_bytes()).hexdigest()[:12]
