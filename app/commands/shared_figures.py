"""The folder in which the web processes of one `serve` store their metrics, so that a scrape of any process shows all.

prometheus-client reads the folder's path from the environment. A folder that the operator names there is used as it is.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
PREFIX = "muster-metrics-"
# A folder is locked shortly after it is made. Until then, another `serve` must not remove it as left behind.
LEFT_AFTER_S = 60


@contextmanager
def folder() -> Iterator[None]:
    """An empty folder of ours while the block lasts. First it removes folders that killed processes left behind."""
    if FOLDER in os.environ:
        yield
        return
    _remove_left_ones()
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(path, os.O_RDONLY)
    # systemd-tmpfiles does not touch locked files either.
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.environ[FOLDER] = str(path)
    try:
        yield
    finally:
        del os.environ[FOLDER]
        os.close(lock)
        shutil.rmtree(path, ignore_errors=True)


def forget_present(pid: int) -> None:
    """Removes what a dead process had at that moment, such as open connections. Its counters stay."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid)  # type: ignore[no-untyped-call]


def _remove_left_ones() -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # The folder of another user can't be opened or removed, and another `serve` may remove the same one.
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - LEFT_AFTER_S and _is_left(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_left(path: Path) -> bool:
    opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(opened)
    return True
