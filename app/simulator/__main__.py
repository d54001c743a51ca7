"""`python -m app.simulator`: the time-clock server alone, until it is interrupted."""

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.simulator import FAULTS, PASSWORD, USERNAME, Simulator, UnknownFault, build_world, create_simulator, serving
from app.simulator.profiles import PROFILES

CATCH_UP_H = 12


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0, 1 when the port is taken, 2 for wrong usage."""
    options = _parser().parse_args(arguments)
    if options.list_faults:
        for name, description in FAULTS.items():
            _say(f"{name:22} {description}")
        return 0
    try:
        simulator = _simulator(options)
    except UnknownFault as error:
        sys.stderr.write(f"{error}; --list-faults shows them all\n")
        return 2
    try:
        with asyncio.Runner(loop_factory=_loop) as runner:
            runner.run(run(simulator, options.port, options.host))
    except OSError as error:
        sys.stderr.write(f"cannot listen on port {options.port}: {error.strerror}\n")
        return 1
    return 0


async def run(simulator: Simulator, port: int, host: str = "127.0.0.1") -> None:
    """Serve until SIGINT or SIGTERM, and say at the start how to reach it."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with serving(simulator, port, host) as address:
        _introduce(simulator, address)
        await stopped.wait()


def clock_at_pace(begins: float, pace: float, real: Callable[[], float] = time.time) -> Callable[[], float]:
    """A clock that starts at `begins` (epoch seconds), runs `pace` times as fast, and never overtakes the real one."""
    started = real()
    return lambda: min(real(), begins + (real() - started) * pace)


def _simulator(options: argparse.Namespace) -> Simulator:
    now = datetime.now(UTC)
    if options.pace > 1:
        now -= timedelta(hours=CATCH_UP_H)
    days = options.days
    if options.since is not None:
        days = max(0, (now.astimezone(ZoneInfo(options.zone)).date() - options.since).days)
    world = build_world(options.seed, options.employees, days, options.terminals, now, options.zone)
    return create_simulator(
        world,
        options.profile,
        options.fault,
        username=options.username,
        password=options.password,
        world_clock=clock_at_pace(now.timestamp(), options.pace),
    )


def _introduce(simulator: Simulator, address: str) -> None:
    world = simulator.world
    _say(f"Time-clock simulator, profile {simulator.profile.name}, on {address}")
    _say(f"  {len(world.people)} people, {len(world.terminals)} terminals, {len(world.punches):,} punches so far")
    _say(f"  user {simulator.sessions.username}  password {simulator.sessions.password}  zone {world.zone.key}")
    _say(f"  faults: {', '.join(simulator.faults.written()) or 'none'}")
    _say(f"  watch it at {address}/")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least}")
        return int(text)

    return number


def _zone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise argparse.ArgumentTypeError(f"{text!r} is no time zone") from None


def _loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _parser() -> argparse.ArgumentParser:
    description = "A time-clock server with invented data."
    parser = argparse.ArgumentParser(prog="python -m app.simulator", description=description)
    parser.add_argument("--port", type=int, default=9009)
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="cloud")
    parser.add_argument("--employees", type=_at_least(0), default=200, help="at most 131072")
    parser.add_argument("--days", type=_at_least(0), default=30, help="days of history")
    parser.add_argument("--since", type=date.fromisoformat, help="first day of history, in place of --days")
    parser.add_argument("--terminals", type=_at_least(1), default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--zone", type=_zone, default="Europe/Berlin", help="the server's own time zone")
    parser.add_argument("--username", default=USERNAME)
    parser.add_argument("--password", default=PASSWORD)
    parser.add_argument("--fault", action="append", default=[], metavar="NAME", help="may be given several times")
    parser.add_argument("--list-faults", action="store_true")
    pace = f"start {CATCH_UP_H} hours behind and run so many times as fast until real time is reached"
    parser.add_argument("--pace", type=float, default=1, help=pace)
    return parser


if __name__ == "__main__":
    sys.exit(main())
