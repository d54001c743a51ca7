"""`serve` and `worker`: the processes that keep running."""

import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from app import garbage
from app.commands import children, frame, shared_figures
from app.commands.database import bring_up

if TYPE_CHECKING:
    from app.config import Settings
    from app.web.gate import Gate

# How long open requests, such as a long export, may still take. With the seconds of draining it stays below Docker's
# ten.
GRACE_S = 4
MOST_UNSENT = 128 * 1024  # Bytes that the system buffers for a client.


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Web processes.")
@click.option(
    "--worker/--no-worker", "worker", default=None, help="Also run a job worker; default: yes in development."
)
def serve(*, host: str, port: int, workers: int, worker: bool | None) -> None:
    """Serve the portal and both APIs."""
    settings = frame.settings_of_environment()
    opened = bound(host, port)
    with frame.database(settings) as urls:
        prepare(settings, urls)
        beside = not settings.production if worker is None else worker
        started: list[children.Child] = []

        def ready() -> None:
            click.echo(f"Muster serves {settings.base_url}", err=True)
            if beside:
                started.append(children.Child("worker"))

        try:
            listen(opened, workers, ready, settings.keep_alive_s)
        finally:
            children.end_all(started)


@click.command("worker")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Jobs at a time, and one more for brief work such as mails.",
)
def worker(*, concurrency: int) -> None:
    """Run jobs; any number of workers, on any number of machines."""
    children.follow_parent()
    settings = frame.settings_of_environment()
    with frame.database(settings) as urls:
        frame.run(_work(settings, urls, concurrency))


async def _work(settings: "Settings", urls: frame.Urls, concurrency: int) -> None:
    from app.parts import worker_parts

    parts = worker_parts(settings, urls.direct, concurrency)
    try:
        # By name, because app may not import workers.
        workers = importlib.import_module("workers.settings")
        garbage.spare_what_stays()
        await workers.work(parts, concurrency=concurrency)
    finally:
        await parts.close()


def prepare(settings: "Settings", urls: frame.Urls) -> None:
    """Does what comes before the first request: tables (in development), keys, and the address that children inherit
    (never the owner's)."""
    from app.db.pooler import refuse_old
    from app.secrets import KeyRing, load_or_create_keys

    if settings.secret_keys:
        KeyRing.from_text(settings.secret_keys)
    else:
        load_or_create_keys(settings.data_dir)
    if settings.pooler == "transaction":
        refuse_old(urls.app)
    if not settings.production and urls.owner:
        frame.run(bring_up(urls))
    os.environ["MUSTER_DATABASE_URL"] = urls.app


def bound(host: str, port: int) -> socket.socket:
    """A socket on the address. Ends the command when the address is taken: uvicorn itself would exit without a
    message."""
    opened = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _keep_little_unsent(opened)
    try:
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        frame.refuse(f"Cannot listen on {host}, port {port}: {error.strerror}.")
    except TypeError:  # It also fails for a name that can't be encoded as a host name.
        opened.close()
        frame.refuse(f"Cannot listen on {host}: that is not a host name.")
    return opened


def _keep_little_unsent(opened: socket.socket) -> None:
    """Keeps the system's buffer of each connection small. So we hold what a slow reader has not taken yet, and see
    whether the reader takes more."""
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MOST_UNSENT)


def listen(opened: socket.socket, workers: int, ready: Callable[[], None], keep_alive_s: int) -> None:
    """Serves on the socket until SIGINT or SIGTERM. Calls `ready` once it can answer the first page."""
    import uvicorn

    from app.commands.web_server import Server, WebProcesses
    from app.web.transport.wire import Wire

    config = uvicorn.Config(
        "app.commands.serve:portal",
        factory=True,
        workers=workers,
        http=Wire,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=keep_alive_s,
        timeout_graceful_shutdown=GRACE_S,
    )
    _end_by_exception_at_sigterm()
    opened.set_inheritable(True)
    with suppress(KeyboardInterrupt):
        if workers > 1:
            ready()
            with shared_figures.folder():
                WebProcesses(config, [opened]).run()
        else:
            Server(config, ready).run([opened])


def portal() -> "Gate":
    """What uvicorn calls, in each web process."""
    garbage.start_undisturbed()
    children.follow_spawner()
    frame.settings_of_environment()
    from app.main import application

    built = application()
    garbage.spare_what_stays()
    return built


def _end_by_exception_at_sigterm() -> None:
    """uvicorn raises the signal again after it has stopped. By default that would end us without ending our
    children."""

    def leave(*_: object) -> None:
        sys.exit(0)

    signal.signal(signal.SIGTERM, leave)


COMMANDS = (serve, worker)
