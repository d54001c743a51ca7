"""`demo`: starts everything at once on an empty machine."""

import os
import shlex
import socket
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from app.commands import children, frame, serve

if TYPE_CHECKING:
    from app.demo import DemoSignIn
    from app.parts import Parts

HOST = "127.0.0.1"
OWN_DATABASE = ("MUSTER_DATABASE_URL", "MUSTER_OWNER_DATABASE_URL")


@click.command("demo")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--clock-port", type=click.IntRange(1, 65535), default=9009, show_default=True)
@click.option(
    "--mail-port",
    type=click.IntRange(1, 65534),
    default=8025,
    show_default=True,
    help="Where its mails are shown; they come in at the port after it.",
)
@click.option("--employees", type=click.IntRange(1, 100_000), default=200, show_default=True)
@click.option("--days", type=click.IntRange(0, 3650), default=30, show_default=True, help="Days of history.")
@click.option("--seed", type=int, default=7, show_default=True)
def demo(*, port: int, clock_port: int, mail_port: int, employees: int, days: int, seed: int) -> None:
    """The portal with demo data, a simulated time clock, a mail server and a worker. Ctrl-C ends all of it."""
    if os.environ.get("MUSTER_ENV") == "production":
        frame.refuse("The demo is not for MUSTER_ENV=production: it prints its passwords.")
    if len({port, clock_port, mail_port, mail_port + 1}) < 4:  # noqa: PLR2004 - all of them
        raise click.UsageError(
            "give --port, --clock-port and --mail-port different ports; mail also takes the one after"
        )
    clock_url = f"http://{HOST}:{clock_port}"
    _prepare_environment(port, clock_port, mail_port)
    settings = frame.settings_of_environment()
    _refuse_taken(clock_port, "simulated time clock", "--clock-port")
    for number in (mail_port, mail_port + 1):
        _refuse_taken(number, "mail server", "--mail-port")
    opened = serve.bound(HOST, port)
    started: list[children.Child] = []
    with frame.database(settings) as urls:
        try:
            simulator = (
                "clock:simulate",
                "--port",
                clock_port,
                "--employees",
                employees,
                "--days",
                days,
                "--seed",
                seed,
            )
            started.append(children.Child(*map(str, simulator)))
            started.append(children.Child("mail:catch", "--port", str(mail_port), "--smtp-port", str(mail_port + 1)))
            serve.prepare(settings, urls)
            fill = partial(_fill, urls, employees, seed, (clock_url, f"http://{HOST}:{mail_port}/webhook"))
            sign_ins = frame.run(frame.acting(settings, urls, fill))

            def ready() -> None:
                _introduce(settings.base_url, clock_url, mail_port, sign_ins)
                # Only after the first page. Earlier it would slow that page down, because both use the same two cores.
                started.append(children.Child("worker"))

            serve.listen(opened, 1, ready, settings.keep_alive_s)
        finally:
            children.end_all(started)


def _prepare_environment(port: int, clock_port: int, mail_port: int) -> None:
    """Sets the settings that this process and its children read. The demo always has a database of its own."""
    for name in OWN_DATABASE:
        if os.environ.pop(name, None):
            click.echo(f"{name} is ignored: the demo uses its own database.", err=True)
    os.environ.setdefault("MUSTER_BASE_URL", f"http://{HOST}:{port}")
    os.environ.setdefault("MUSTER_DRAIN_S", "0")  # So no proxy needs to know it.
    # The people of the demo are invented: no mail may be sent to their addresses.
    os.environ["MUSTER_SMTP_URL"] = f"smtp://{HOST}:{mail_port + 1}?starttls=none"
    os.environ["MUSTER_MAIL_FROM"] = "Muster <muster@example.org>"
    allowed = os.environ.get("MUSTER_OUTBOUND_ALLOW", "")
    os.environ["MUSTER_OUTBOUND_ALLOW"] = f"{allowed},{HOST}/32:{clock_port},{HOST}/32:{mail_port}".lstrip(",")


def _refuse_taken(port: int, what: str, option: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            frame.refuse(f"The {what} cannot listen on port {port}: {error.strerror}. Give {option}.")


async def _fill(
    urls: frame.Urls, employees: int, seed: int, told: tuple[str, str], parts: "Parts"
) -> "list[DemoSignIn]":
    """`told`: the addresses of the time clock, and of the receiver of webhooks."""
    from app import demo as data

    await data.make_tenant(parts.database, urls.need_owner(), urls.app_role)
    clock_url, webhook_url = told
    sign_ins = await data.prepare(parts, employees=employees, seed_number=seed, clock_url=clock_url)
    await data.tell(parts, webhook_url)
    return sign_ins


def _introduce(base_url: str, clock_url: str, mail_port: int, sign_ins: "Sequence[DemoSignIn]") -> None:
    click.echo(f"\nMuster is ready: {base_url}\n")
    for one in sign_ins:
        click.echo(f"  {one.role or 'No role':14} {one.email:24} {one.password:24} {one.note}".rstrip())
    click.echo(
        f"\nThe simulated time clock: {clock_url}/   Its mails: http://{HOST}:{mail_port}/   Ctrl-C stops everything."
        f"\nWhat its webhook was told: http://{HOST}:{mail_port}/webhooks"
    )
    click.echo("To use commands with the demo, set this in another shell:")
    click.echo(f"  export MUSTER_OUTBOUND_ALLOW={os.environ['MUSTER_OUTBOUND_ALLOW']} MUSTER_BASE_URL={base_url}")
    click.echo("  " + _exported("MUSTER_SMTP_URL", "MUSTER_MAIL_FROM") + "\n")


def _exported(*names: str) -> str:
    """For a shell; a value may have a space or a question mark."""
    return "export " + " ".join(f"{name}={shlex.quote(os.environ[name])}" for name in names)


COMMANDS = (demo,)
