"""Runs `muster` commands for tests: in this process, on a thread without an event loop,
with the environment of the test."""

import asyncio
import gc
import io
import json
import logging
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import structlog

from app.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def refusal(self) -> str:
        """The one line on stderr."""
        assert self.code == 1, (self.code, self.err)
        (line,) = self.err.splitlines()
        return line.removeprefix("Error: ")


class CommandLine:
    """`await muster("user:create", "ada@example.org", …)`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)

    async def __call__(self, *arguments: object, stdin: str = "", **environment: str) -> Ended:
        return await asyncio.to_thread(self._run, [str(one) for one in arguments], stdin, environment)

    def _run(self, arguments: list[str], stdin: str, more: Mapping[str, str]) -> Ended:
        saved = dict(os.environ), sys.argv, sys.stdin, list(logging.getLogger().handlers), logging.getLogger().level
        out, err, thresholds = io.StringIO(), io.StringIO(), gc.get_threshold()
        os.environ.update({**self.environment, **more})
        sys.argv, sys.stdin = ["muster", *arguments], io.StringIO(stdin)
        code: Any = 0
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as ended:
            code = ended.code
        finally:
            environment, sys.argv, sys.stdin, handlers, level = saved
            os.environ.clear()
            os.environ.update(environment)
            logging.getLogger().handlers = handlers
            logging.getLogger().setLevel(level)
            structlog.reset_defaults()
            gc.set_threshold(*thresholds)
        return Ended(int(code or 0), out.getvalue(), err.getvalue())
