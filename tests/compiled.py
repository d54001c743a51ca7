"""Compiled templates, kept from process to process and from run to run: each process of the suite would compile all of them."""

from jinja2 import FileSystemBytecodeCache

from app.web import templating
from tests.cluster import ROOT

_FOLDER = ROOT / ".pytest_cache" / "templates"


def keep_compiled_templates() -> None:
    """For this process. Jinja itself sees which of them have changed since."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    templating.environment().bytecode_cache = FileSystemBytecodeCache(str(_FOLDER))
