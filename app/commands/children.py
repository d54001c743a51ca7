"""Child processes of `serve` and `demo`: started, restarted when they die, and ended with their parent, however the
parent ends.

A child has a session of its own, so Ctrl-C reaches only the parent, which then ends its children. If the parent is
killed, its children end too: each reads a pipe that only the parent holds open (`follow_parent`).
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

FOLLOW = "MUSTER_FOLLOW_STDIN"
LONGEST_PAUSE_S = 30.0
HEALTHY_AFTER_S = 60.0
END_WAIT_S = 10.0


class Child:
    """`muster ARGUMENTS` beside us. It is restarted when it dies, after growing pauses, until `end`."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._ending = threading.Event()
        self._process = self._start()
        self._keeper = threading.Thread(target=self._keep, daemon=True, name=f"keeps {arguments[0]}")
        self._keeper.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def end(self) -> None:
        """Asks it to stop, waits, and kills it after ten seconds."""
        self._ending.set()
        self._process.terminate()
        try:
            self._process.wait(END_WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._keeper.join(END_WAIT_S)
        if self._process.stdin:
            self._process.stdin.close()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 - our own program, with arguments of our own
            [sys.executable, "-m", "app", *self._arguments],
            env={**os.environ, FOLLOW: "1"},
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _keep(self) -> None:
        import structlog  # Only `serve` and `demo` have children, but every command loads this file.

        log = structlog.get_logger("muster.children")
        pause_s, started = 0.5, time.monotonic()
        while True:
            code = self._process.wait()
            if self._ending.is_set():
                return
            pause_s = 0.5 if time.monotonic() - started > HEALTHY_AFTER_S else min(pause_s * 2, LONGEST_PAUSE_S)
            log.warning("child process ended, starting it again", child=self._arguments[0], code=code, pause_s=pause_s)
            if self._ending.wait(pause_s):
                return
            started = time.monotonic()
            self._process = self._start()
            if self._ending.is_set():
                self._process.terminate()


def follow_parent() -> None:
    """For a command that may run as a child: ends this process, as SIGTERM does, once the parent is gone."""
    if os.environ.pop(FOLLOW, None) is None:
        return
    threading.Thread(target=_wait_for_end_of_stdin, daemon=True, name="follows its parent").start()


def follow_spawner() -> None:
    """The same for one of several web processes, which uvicorn starts."""
    spawner = multiprocessing.parent_process()
    if spawner is None:
        return

    def wait() -> None:
        spawner.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True, name="follows its spawner").start()


def _wait_for_end_of_stdin() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def end_all(children: Sequence[Child]) -> None:
    """Ends all, the last one first."""
    for child in reversed(children):
        child.end()
