"""The product and the second reading of the page, side by side:
the same events for both, and what they judge differently."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.clock.pairing.inputs import PairingPunch, Record, TimeSpan
from tests.clock.company import CODES, TERMINALS, Company
from tests.clock.reading import acts, world
from tests.clock.reading.one_punch import judge_everything
from tests.clock.reading.outcome import share_time

START = datetime(2026, 3, 2, 6, tzinfo=UTC)


class Both:
    """The same events for the product and for the reading of the page; `now` never goes back."""

    def __init__(self, rules):
        self.product = Company(rules)
        self.reading = world.World(rules, terminals={sn: world.Terminal() for sn in TERMINALS})
        self.reading.bindings = dict.fromkeys(CODES)
        self.now = START
        self.unread = []

    def play(self, event):
        verb, *given = event
        getattr(self, verb)(*given)

    def tap(self, number, *row):
        """`row`: remote id, code, instant, punch code, terminal."""
        self.product.punches[number] = PairingPunch(number, *row)
        self.reading.punches[number] = world.Punch(number, *row)

    def judge(self, later):
        self.now = max(self.now, START + later)
        self.product.judge_all(self.now)
        judge_everything(self.reading, self.now, self.unread)

    def bind(self, code, employee):
        if self.product.bindings[code] != employee:
            self.product.bind(code, employee)
            acts.bind(self.reading, code, employee)

    def terminal(self, sn, direction, access):
        self.product.terminals[sn] = (direction, access)
        self.reading.terminals[sn] = world.Terminal(direction, access)

    def setting(self, name, value):
        self.product.rules = self.reading.settings = replace(self.product.rules, **{name: value})

    def lock(self, days):
        day = self.day(days)
        self.product.locked ^= {day}
        self.reading.locked ^= {day}

    def day(self, days):
        return START.date() + timedelta(days=days)

    def activity(self, employee):
        self.product.inactive ^= {employee}
        self.reading.inactive ^= {employee}

    def unread_window(self, start, hours):
        spans = [] if hours is None else [(START + start, START + start + timedelta(hours=hours))]
        self.unread = spans
        self.product.unread = [TimeSpan(*span) for span in spans]

    def by_hand(self, employee, start, hours, kind):
        clock_in, clock_out = START + start, START + start + hours if hours else None
        workday = self.reading.workday(clock_in)
        if workday in self.reading.locked or self.is_taken(employee, kind, clock_in, clock_out, None):
            return
        number = len(self.product.records) + 1
        self.product.records[number] = Record(number, employee, kind, workday, clock_in, clock_out, source="manual")
        self.reading.records[number] = world.Record(
            number, employee, kind, workday, clock_in, clock_out, is_by_hand=True
        )

    def is_taken(self, employee, kind, clock_in, clock_out, besides):
        """The host refuses hours that are another record's."""
        return any(
            share_time(clock_in, clock_out, one.clock_in, one.clock_out)
            for one in self.reading.records.values()
            if (one.employee, one.kind, one.deleted) == (employee, kind, False) and one is not besides
        )

    def edit(self, record, clock_out):
        if clock_out is not None and not clock_out > record.clock_in:
            return
        if not self.is_taken(record.employee, record.kind, record.clock_in, clock_out, record):
            breaks = tuple(one for one in record.breaks if clock_out is not None and one[1] <= clock_out)
            record.clock_out, record.breaks = clock_out, breaks
            self.product.edit_record(record.id, clock_out=clock_out, breaks=breaks)

    def standing(self, place):
        """One of the records that may be changed."""
        records = [
            one for one in self.reading.records.values() if not one.deleted and one.workday not in self.reading.locked
        ]
        return records[place % len(records)] if records else None

    def grow(self, place, hours):
        record = self.standing(place)
        if record is not None:
            self.edit(record, (record.clock_out or record.clock_in) + timedelta(hours=hours))

    def restore(self, place):
        """The hours that the import last wrote."""
        record = self.standing(place)
        if record is not None and record.written is not None:
            self.edit(record, record.written[1])

    def decide(self, place, status):
        record = self.standing(place)
        if record is not None:
            record.status = status
            self.product.decide(record.id, status)

    def delete(self, place):
        record = self.standing(place)
        if record is not None:
            self.product.delete(record.id)
            acts.delete(self.reading, record)

    def retry(self, place):
        punch = self.one_that(place, lambda punch: punch.word != "imported" and not punch.gone)
        if punch is not None:
            self.product.retry_one(punch.id)
            acts.retry(self.reading, punch)

    def use(self, place):
        punch = self.one_that(place, lambda punch: punch.word == "arrived_late" and self.is_somebodys(punch))
        if punch is not None:
            self.product.use(punch.id, self.now)
            acts.use_the_punches(self.reading, punch, self.now)

    def follow_the_server(self, place):
        """A person sets the clock-out of a record to what the server says now."""
        punch = self.one_that(place, lambda punch: punch.left in self.reading.records.values())
        if punch is not None and not punch.left.deleted and punch.left.workday not in self.reading.locked:
            self.edit(punch.left, punch.at)

    def server_moves(self, place, step):
        punch = self.one_that(place, lambda _: True)
        if punch is not None:
            self.server_edits(punch, punch.at + step, punch.code)

    def server_moves_beside(self, place, other, step):
        """With a little luck it is a fold then."""
        punch, beside = self.one_that(place, lambda _: True), self.one_that(other, lambda _: True)
        if punch is not None:
            self.server_edits(punch, beside.at + step, beside.code)

    def server_changes_code(self, place, code):
        punch = self.one_that(place, lambda _: True)
        if punch is not None:
            self.server_edits(punch, punch.at, code)

    def server_edits(self, punch, at, code):
        if (at, code) != (punch.at, punch.code):
            self.product.edit(punch.id, at=at, code=code, gone=False)
            acts.edit_on_server(self.reading, punch, at, code)

    def server_changes_person(self, place, emp_code):
        punch = self.one_that(place, lambda punch: punch.emp_code != emp_code)
        if punch is not None:
            self.product.change_person(punch.id, emp_code)
            acts.change_person_on_server(self.reading, punch, emp_code)

    def server_deletes(self, place):
        punch = self.one_that(place, lambda punch: not punch.gone)
        if punch is not None:
            self.product.lose(punch.id)
            acts.delete_on_server(punch)

    def server_finds(self, place):
        punch = self.one_that(place, lambda punch: punch.gone)
        if punch is not None:
            self.product.find_again(punch.id)
            acts.find_again_on_server(self.reading, punch)

    def one_that(self, place, is_meant):
        punches = [punch for punch in self.reading.punches.values() if is_meant(punch)]
        return punches[place % len(punches)] if punches else None

    def is_somebodys(self, punch):
        who = self.reading.employee_of(punch)
        return who is not None and who not in self.reading.inactive

    # What is compared.

    def difference(self):
        """None while both judged the same."""
        for number, punch in self.product.punches.items():
            ours = (punch.outcome, punch.record_id, punch.covered_by)
            other = self.reading.punches[number]
            theirs = (other.word, *(None if one is None else one.id for one in (other.record, other.covered_by)))
            if ours != theirs:
                return f"punch {number}: the product says {ours}, the page {theirs}"
        for number in sorted(self.product.records.keys() | self.reading.records.keys()):
            ours, theirs = self.product_record(number), self.reading_record(number)
            if ours != theirs:
                return f"record {number}: the product says {ours}, the page {theirs}"
        return None

    def product_record(self, number):
        one = self.product.records.get(number)
        return one and seen(one, one.employee_id)

    def reading_record(self, number):
        one = self.reading.records.get(number)
        return one and seen(one, one.employee)


def seen(record, employee):
    return (
        employee,
        str(record.kind),
        str(record.workday),
        str(record.clock_in),
        str(record.clock_out),
        [(str(out), str(back)) for out, back in record.breaks],
        record.deleted,
    )


def first_difference(rules, events):
    both = Both(rules)
    for event in events:
        both.play(event)
        found = both.difference() if event[0] == "judge" else None
        if found is not None:
            return found
    return None
