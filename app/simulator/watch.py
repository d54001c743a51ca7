"""The page at `/` that shows what the server is doing: HTML without script, which reloads itself."""

from datetime import datetime
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING

from app.simulator.faults import FAULTS
from app.simulator.rows import CODE_NAMES

if TYPE_CHECKING:
    from app.simulator.application import Simulator

SHOWN = 25
STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:72rem;margin:1.5rem auto;padding:0 1rem}
body{color:#1c2430;background:#fbfbf9}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin-top:1.6rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #dfe2e6}td.n,th.n{text-align:right}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem}dt{color:#525c69}dd{margin:0}
.bad{color:#a11212;font-weight:600}code{font-size:.9em}
@media(prefers-color-scheme:dark){body{color:#e6e9ed;background:#14181d}th,td{border-color:#333b45}dt{color:#a7b0bb}
.bad{color:#ff9c8f}}
"""


def draw_page(simulator: "Simulator") -> str:
    """The whole page."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">'
        '<meta name="viewport" content="width=device-width"><title>Time-clock simulator</title>'
        '<link rel="stylesheet" href="/_control/style.css"></head><body><main><h1>Time-clock simulator</h1>'
        f"{_facts(simulator)}{_faults(simulator)}<h2>Latest punches</h2>{_punches(simulator)}"
        f"<h2>Latest calls</h2>{_calls(simulator)}<h2>Terminals</h2>{_terminals(simulator)}"
        f"<details><summary>All faults</summary>{_catalogue()}</details></main></body></html>"
    )


def _facts(simulator: "Simulator") -> str:
    world = simulator.world
    facts = {
        "Profile": simulator.profile.name,
        "Time there": f"{datetime.fromtimestamp(world.now, world.zone):%Y-%m-%d %H:%M:%S} {world.zone.key}",
        "People": str(sum(person.listed for person in world.people)),
        "Punches": f"{len(world.punches):,}",
        "Sessions": str(len(simulator.sessions.by_access)),
        "Calls": f"{simulator.call_count:,}",
    }
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts.items()) + "</dl>"


def _faults(simulator: "Simulator") -> str:
    active = simulator.faults.active.values()
    if not active:
        return "<h2>Faults</h2><p>None: it behaves.</p>"
    rows = [[f'<span class="bad">{escape(one.written)}</span>', escape(FAULTS[one.name])] for one in active]
    return "<h2>Faults</h2>" + _table(("Fault", "What it does"), rows)


def _punches(simulator: "Simulator") -> str:
    world, table = simulator.world, simulator.world.punches
    rows = []
    for index in range(len(table) - 1, max(-1, len(table) - 1 - SHOWN), -1):
        punch = table[index]
        person, terminal = world.people[punch.person], world.terminals[punch.terminal]
        name = f"{person.first_name} {person.last_name or ''}".strip()
        rows.append(
            [
                f"{datetime.fromtimestamp(punch.punched, world.zone):%Y-%m-%d %H:%M:%S}",
                f"{escape(person.code)} <bdi>{escape(name)}</bdi>",
                escape(CODE_NAMES.get(punch.code, f"Unknown ({punch.code})")),
                escape(terminal.alias),
            ]
        )
    return _table(("Time", "Person", "Code", "Terminal"), rows)


def _calls(simulator: "Simulator") -> str:
    rows = []
    for noted in list(simulator.calls)[: -SHOWN - 1 : -1]:
        query = "&".join(f"{word}={text}" for word, text in noted.query.items())
        status = (
            f'<span class="bad">{noted.status}</span>' if noted.status >= HTTPStatus.BAD_REQUEST else str(noted.status)
        )
        rows.append(
            [
                f"{datetime.fromtimestamp(noted.at, simulator.world.zone):%H:%M:%S}",
                f"{escape(noted.method)} <code>{escape(noted.path)}</code> {escape(query)}",
                status,
                f"{noted.size:,} B",
                f"{noted.took_ms:.1f} ms",
                escape(", ".join(noted.struck)),
            ]
        )
    return _table(("At", "Call", "Status", "Size", "Took", "Faults"), rows)


def _terminals(simulator: "Simulator") -> str:
    rows = [
        [
            f"<code>{escape(terminal.serial)}</code>",
            escape(terminal.alias),
            "attendance" if terminal.attendance else "access",
            terminal.habit.replace("_", " "),
            f"{terminal.ahead_s} s",
        ]
        for terminal in simulator.world.terminals
        if terminal.listed
    ]
    return _table(("Serial", "Alias", "Kind", "Sends", "Clock fast by"), rows)


def _catalogue() -> str:
    rows = [[f"<code>{escape(name)}</code>", escape(text)] for name, text in FAULTS.items()]
    return _table(("Name", "What it does"), rows)


def _table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
