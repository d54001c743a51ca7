"""Random histories, judged by the product and by the second reading of the page.

`python -m tests.clock.histories 1000 --seed 7` judges a thousand of them and shows each that the two judge differently,
cut down to the events that it takes.
"""

import argparse
import random
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from app.clock.pairing.inputs import Rules
from tests.clock.company import CODES, TERMINALS
from tests.clock.side_by_side import START, first_difference

ZONES = ("UTC", "Asia/Tokyo", "America/Vancouver")
DIRECTIONS = ("by_code", "by_code", "undirected", "in", "out")
# Steps on and around every limit of the page, and a few of no meaning.
SECONDS = (0, 0, 1, 3, 10, 11, 30, 60, 61, 240, 299, 300, 301, 600, 1799, 1800, 1801, 3600)
HOURS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 16, 23, 24, 25, 40, 48, 60)
SETTINGS = {
    "repeat_tap_seconds": (0, 10, 10, 60, 600),
    "double_tap_fix": (True, True, False),
    "double_tap_minutes": (0, 5, 5, 15, 240),
    "shift_gap_hours": (1, 4, 8, 8, 24),
    "undirected_min_minutes": (0, 30, 30, 240),
    "undirected_max_hours": (1, 10, 14, 14, 24),
    "import_single_punches": (False, False, True),
}
# Hours and punch codes.
DAYS_OF_WORK = (
    ((2, 0), (11, 1)),
    ((2, 0), (6, 2), (7, 3), (11, 1)),
    ((2, 0), (6, 1), (7, 0), (11, 1), (12, 4), (14, 5)),
    ((16, 0), (20, 2), (20.5, 3), (24, 1)),
    ((2, 0), (11, 0)),
    ((2, 0), (5, 2), (5.5, 3), (8, 2), (8.5, 3), (11, 1)),
)
STATUSES = ("approved", "rejected", "auto_closed", "pending")


def history(seed):
    """Settings and events; the same for the same seed."""
    chance = random.Random(seed)
    rules = some_rules(chance)
    events = [("bind", code, chance.choice((1, 1, 1, 2))) for code in CODES]
    events += [("terminal", sn, chance.choice(DIRECTIONS), False) for sn in chance.sample(TERMINALS, 2)]
    taps = some_taps(chance)
    if chance.random() < 0.6:
        taps = some_later(chance, taps)
    while taps:
        part = chance.choice((1, 1, 2, 3, 5, 8))
        events += taps[:part]
        taps = taps[part:]
        events.append(some_judging(chance))
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            events.append(some_act(chance))
            if chance.random() < 0.7:
                events.append(some_judging(chance))
    events.append(("judge", timedelta(days=60)))
    return rules, events


def history_with_edits(seed):
    """The same history, and between its events the server edits, deletes and finds punches."""
    rules, events = history(seed)
    chance = random.Random(f"server {seed}")
    places = [place for place, event in enumerate(events) if event[0] == "judge"]
    for place in sorted((chance.choice(places) for _ in range(chance.choice((1, 2, 4, 8)))), reverse=True):
        follow = [some_judging(chance)] if chance.random() < 0.7 else []
        events[place + 1 : place + 1] = [some_act_of_server(chance), *follow]
    return rules, events


def some_act_of_server(chance):
    place = chance.randrange(0, 17)
    acts = (
        (6, lambda: ("server_moves", place, some_move(chance))),
        (3, lambda: ("server_moves_beside", place, chance.randrange(0, 17), timedelta(seconds=chance.choice(SECONDS)))),
        (2, lambda: ("server_changes_code", place, chance.choice((0, 0, 1, 1, 2, 3, 4, 5, 255, None)))),
        (2, lambda: ("follow_the_server", place)),
        (2, lambda: ("use", place)),
        (2, lambda: ("server_changes_person", place, chance.choice(CODES))),
        (4, lambda: ("server_deletes", place)),
        (2, lambda: ("server_finds", place)),
    )
    (act,) = chance.choices([make for _, make in acts], [weight for weight, _ in acts])
    return act()


def some_move(chance):
    return chance.choice((-1, 1)) * some_step(chance)


def some_later(chance, taps):
    """A few come after the others."""
    late = set(chance.sample(taps, min(len(taps), chance.choice((1, 2, 3, 16)))))
    return [tap for tap in taps if tap not in late] + chance.sample(sorted(late), len(late))


def some_rules(chance):
    rules = Rules(zone=ZoneInfo(chance.choice(ZONES)))
    if chance.random() < 0.5:
        return rules
    return replace(rules, **{name: chance.choice(values) for name, values in SETTINGS.items()})


def some_taps(chance):
    """Instants with codes of no meaning, or working days with what goes wrong in them."""
    moments = some_days(chance) if chance.random() < 0.6 else some_moments(chance)
    ids = chance.sample(range(1, 99), len(moments))
    codes = chance.choice((("1",), ("1", "1", "2"), CODES))
    terminals = chance.choice((TERMINALS, TERMINALS[-1:]))
    taps = []
    for number, (at, punch_code) in enumerate(moments, 1):
        remote_id = str(ids[number - 1]) if chance.random() < 0.9 else f"x{ids[number - 1]}"
        taps.append(("tap", number, remote_id, chance.choice(codes), at, punch_code, chance.choice(terminals)))
    return taps


def some_moments(chance):
    undirected = chance.random() < 0.2
    at, found = START, []
    for _ in range(chance.choice((3, 5, 8, 12, 16))):
        at += some_step(chance)
        found.append((at, 255 if undirected else chance.choice((0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 5, 255, None))))
    return found


def some_step(chance):
    if chance.random() < 0.55:
        return timedelta(seconds=chance.choice(SECONDS))
    return timedelta(hours=chance.choice(HOURS), seconds=chance.choice((-1, 0, 0, 0, 1)))


def some_days(chance):
    found = []
    for day in range(chance.choice((1, 2, 3))):
        hours = chance.choice(DAYS_OF_WORK)
        for hour, punch_code in hours:
            at = START + timedelta(days=day, hours=hour, minutes=chance.choice((0, 0, 10, -10)))
            if chance.random() < 0.9:
                found.append((at, punch_code))
            if chance.random() < 0.4:
                again = timedelta(seconds=chance.choice((0, 3, 10, 60, 240, 301)))
                found.append((at + again, chance.choice((punch_code, punch_code, 0, 1, 2, 3))))
    return sorted(found, key=lambda one: one[0])


def some_judging(chance):
    return ("judge", timedelta(hours=chance.choice((4, 12, 24, 48, 72, 120, 24 * 20, 24 * 20))))


def some_act(chance):
    start = timedelta(hours=chance.randrange(0, 96), minutes=chance.choice((0, 0, 30)))
    place = chance.randrange(0, 17)
    acts = (
        (6, lambda: ("bind", chance.choice(CODES), chance.choice((1, 1, 2, None)))),
        (4, lambda: ("terminal", chance.choice(TERMINALS), chance.choice(DIRECTIONS), chance.random() < 0.3)),
        (4, lambda: some_setting(chance)),
        (4, lambda: ("lock", chance.randrange(0, 5))),
        (1, lambda: ("activity", chance.choice((1, 2)))),
        (1, lambda: ("unread_window", start, chance.choice((1, 12, None, None)))),
        (3, lambda: ("by_hand", chance.choice((1, 1, 2)), start, some_hours(chance), some_kind(chance))),
        (3, lambda: ("grow", place, chance.choice((-1, 1, 3)))),
        (2, lambda: ("restore", place)),
        (2, lambda: ("decide", place, chance.choice(STATUSES))),
        (6, lambda: ("delete", place)),
        (5, lambda: ("retry", place)),
        (8, lambda: ("use", place)),
    )
    (act,) = chance.choices([make for _, make in acts], [weight for weight, _ in acts])
    return act()


def some_setting(chance):
    name = chance.choice(tuple(SETTINGS))
    return ("setting", name, chance.choice(SETTINGS[name]))


def some_hours(chance):
    return chance.choice((None, timedelta(hours=1), timedelta(hours=4), timedelta(hours=9)))


def some_kind(chance):
    return chance.choice(("regular", "regular", "overtime"))


# What a person reads.


def cut_down(rules, events):
    """The same difference with as few events as possible."""
    size = max(1, len(events) // 2)
    while True:
        for start in range(0, len(events), size):
            fewer = events[:start] + events[start + size :]
            if first_difference(rules, fewer) is not None:
                events = fewer
                break
        else:
            if size == 1:
                return events
            size = max(1, size // 2)


def told(event):
    return " ".join(f"{one:%a %d %H:%M:%S}" if isinstance(one, datetime) else str(one) for one in event)


def described(seed, made=history):
    """None, or the history of this seed cut down to where the two differ."""
    rules, events = made(seed)
    if first_difference(rules, events) is None:
        return None
    events = cut_down(rules, events)
    standard = Rules(zone=rules.zone)
    changed = {name: getattr(rules, name) for name in SETTINGS if getattr(rules, name) != getattr(standard, name)}
    begin = f"history {seed} ({rules.zone}, {changed or 'standard settings'}):"
    return "\n    ".join([begin, *map(told, events), first_difference(rules, events)])


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.clock.histories", description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--edits", action="store_true", help="the server edits and deletes punches, too")
    parser.add_argument("--most", type=int, default=5, help="stop after so many differences")
    given = parser.parse_args(arguments)
    seeds = range(given.seed, given.seed + given.count)
    made = history_with_edits if given.edits else history
    found = list(islice(filter(None, (described(seed, made) for seed in seeds)), given.most))
    sys.stdout.write(
        "\n".join([*found, f"{len(found)} differences in {given.count:,} histories from {given.seed:,} on\n"])
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
