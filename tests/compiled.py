"""What is compiled, kept from process to process and from run to run:
each process of the suite would compile all of it."""

import importlib
from contextlib import suppress
from functools import partial

import pytest
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


def compile_a_share_of_the_tests(config: pytest.Config) -> None:
    """Before a process of a whole run collects them. All processes collect all tests, and would rewrite the assertions
    of all at once where nothing is compiled yet. Now each does it for its share, and finds the rest done."""
    process = getattr(config, "workerinput", None)
    if process is None or config.args != config.getini("testpaths") or config.getoption("database_only"):
        return
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    for file in files[int(process["workerid"].removeprefix("gw")) :: process["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):  # the collection tells of it
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
