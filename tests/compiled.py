"""Compiled templates, kept from process to process and from run to run: each process of the suite would compile all of them."""

import hashlib
from functools import partial
from pathlib import Path

from jinja2 import FileSystemBytecodeCache

from app.web import escaping, templating
from tests.cluster import ROOT


def keep_compiled_templates() -> None:
    """For this process. Jinja itself sees which of them have changed since; what they are compiled to is escaping's to say."""
    compiler = hashlib.sha256(Path(escaping.__file__).read_bytes()).hexdigest()
    folder = ROOT / ".pytest_cache" / "templates" / compiler[:16]
    folder.mkdir(parents=True, exist_ok=True)
    kept = FileSystemBytecodeCache(str(folder))
    # Given to what makes the environment: it compiles its components while it is made.
    vars(templating)["SparingEnvironment"] = partial(escaping.SparingEnvironment, bytecode_cache=kept)
