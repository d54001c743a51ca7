"""Which files of ours a piece of work goes through, and how often it enters a room:
for `tests/test_ways.py`, and to look at.

`python -m pytest tests/test_ways.py -s` prints every way, with the functions that ran in each file.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
_OURS = tuple(f"{ROOT / folder}/" for folder in ("app", "workers"))


@dataclass
class Way:
    """`files` are those of ours whose functions ran, `calls` counts how often each function began, by `file:name`."""

    files: set[str] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    rooms: list[str] = field(default_factory=list)

    def entered(self, room: str) -> int:
        """How often the work came into this room from another one."""
        return sum(here == room for here in self.rooms)

    def began(self, name: str) -> int:
        """How often functions of that name (`judge.py:judge`) began."""
        return sum(number for called, number in self.calls.items() if called.endswith(name))

    def report(self, title: str) -> str:
        lines = (f"  {name}: {', '.join(self._functions(name))}" for name in sorted(self.files))
        return "\n".join([f"{title}: {len(self.files)} files", *lines])

    def _functions(self, file: str) -> list[str]:
        """A file that a single function is called in may be a detour."""
        return sorted(called.rpartition(":")[2] for called in self.calls if called.startswith(f"{file}:"))


@contextmanager
def traced(title: str) -> Iterator[Way]:
    """Follows this thread, and prints the way. A coroutine that continues is no new call."""
    way = Way()
    begun: dict[int, FrameType] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        code: CodeType = frame.f_code
        if event != "call" or not code.co_filename.startswith(_OURS) or id(frame) in begun:
            return
        if code.co_name in ("<module>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>"):
            return
        begun[id(frame)] = frame
        name = str(Path(code.co_filename).relative_to(ROOT))
        way.files.add(name)
        way.calls[f"{name}:{code.co_name}"] += 1
        room = name.rpartition("/")[0]
        if not way.rooms or way.rooms[-1] != room:
            way.rooms.append(room)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield way
    finally:
        sys.setprofile(before)
        print(way.report(title))  # noqa: T201 - pytest shows it with -s
