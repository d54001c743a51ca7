"""Compiled templates, kept from process to process and from run to run: each process of the suite would compile all of them."""

from functools import partial

from jinja2 import FileSystemBytecodeCache

from app.web import templating
from tests.cluster import ROOT


def keep_compiled_templates() -> None:
    """For this process. Jinja itself sees which of them have changed since."""
    folder = ROOT / ".pytest_cache" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    kept = FileSystemBytecodeCache(str(folder))
    # Given to what makes the environment: it compiles its components while it is made.
    vars(templating)["Environment"] = partial(templating.Environment, bytecode_cache=kept)
