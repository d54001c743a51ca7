"""A tiny store that applies what the pairing core returns the way the importer does, and a notation for taps."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from app.clock.pairing import judge as pairing
from app.clock.pairing.inputs import Case, PairingEmployee, PairingPunch, Record, Rules, Written
from app.clock.pairing.verdicts import CreateRecord, Judgement, UpdateRecord

MONDAY = date(2026, 3, 2)
DAYS = {"Mon": 0, "Tue": 1, "Wed": 2, "Thu": 3, "Fri": 4, "Sat": 5, "Sun": 6}
CODES = {"I": 0, "O": 1, "bo": 2, "bi": 3, "oi": 4, "oo": 5, "a": 0, "x": 255, "d": 0}
# After everything that is ever tapped here, and after today for as long as these tests are run.
FAR = datetime(2100, 1, 1, tzinfo=UTC)
ALICE = PairingEmployee(1)
RULES = Rules(zone=ZoneInfo("UTC"))


def when(text, zone=UTC):
    """'08:00', 'Tue 08:00:05' or '2013-11-02 22:00', local, as a UTC instant."""
    day, _, clock = text.rpartition(" ")
    start = MONDAY + timedelta(days=DAYS.get(day, 0))
    if day and day not in DAYS:
        start = date.fromisoformat(day)
    parts = [int(part) for part in clock.split(":")]
    hour, minute, second = (*parts, 0)[:3]
    return datetime(start.year, start.month, start.day, hour, minute, second, tzinfo=zone).astimezone(UTC)


def tap(text, number, zone=UTC, **more):
    """'I 08:00', 'a Tue 17:00': one punch of code, undirected for `a`, of a door reader for `d`."""
    sign, _, moment = text.strip().partition(" ")
    direction = "undirected" if sign == "a" else "by_code"
    fields = {"emp_code": "100", "terminal_sn": "T1", "direction": direction, "is_access": sign == "d"} | more
    return PairingPunch(id=number, remote_id=str(number), at=when(moment, zone), code=CODES[sign], **fields)


class Store:
    """Punches, records and day locks of one employee (A, 1, unless re-bound)."""

    def __init__(self, taps="", *, rules=RULES, zone=UTC, who=ALICE):
        self.punches: dict[int, PairingPunch] = {}
        self.texts: dict[str, int] = {}
        self.records: dict[int, Record] = {}
        self.judge_at: dict[int, datetime | None] = {}
        self.locked: set[date] = set()
        self.rules = rules
        self.zone = zone
        self.who = who
        self.add(taps)

    def add(self, taps, **more):
        for text in filter(None, (part.strip() for part in taps.split(","))):
            number = len(self.punches) + 1
            self.punches[number] = tap(text, number, self.zone, **more)
            self.texts[text] = number
        return self

    def add_manual(self, clock_in, clock_out=None, kind="regular", status="pending"):
        number = len(self.records) + 1
        start = when(clock_in, self.zone)
        end = None if clock_out is None else when(clock_out, self.zone)
        self.records[number] = Record(
            number, self.who.id, kind, start.astimezone(self.zone).date(), start, end, status=status, source="manual"
        )
        return self

    def judge(self, now=FAR, **more) -> Judgement:
        moment = when(now, self.zone) if isinstance(now, str) else now
        judgement = pairing.judge(self.case(moment, **more))
        self.apply(judgement)
        return judgement

    def case(self, now=FAR, **more) -> Case:
        punches, records = list(self.punches.values()), list(self.records.values())
        return Case(self.who, punches, records, self.rules, now, locked_days=self.locked, **more)

    def apply(self, judgement):
        keys = {}
        for create in judgement.creates:
            keys[create.key] = self._create(create)
        for update in judgement.updates:
            self._update(update)
        for verdict in judgement.verdicts:
            record = keys.get(verdict.record, verdict.record)
            assert record is None or record in self.records
            punch = self.punches[verdict.punch_id]
            self.judge_at[punch.id] = verdict.judge_at
            self.punches[verdict.punch_id] = replace(
                punch,
                edited_record=punch.edited_record if record is None else None,
                edited_from=punch.edited_from if record is None else None,
                outcome=verdict.outcome.value,
                record_id=record,
                imported_role=verdict.role,
                retry=verdict.retry,
                lifted=verdict.lifted,
                repeats=verdict.repeats,
                covered_by=verdict.covered_by,
            )

    def _create(self, intent: CreateRecord):
        number = len(self.records) + 1
        written = Written(intent.clock_in, intent.clock_out, intent.breaks)
        self.records[number] = Record(
            number,
            intent.employee_id,
            intent.kind.value,
            intent.workday,
            intent.clock_in,
            intent.clock_out,
            intent.breaks,
            written=written,
        )
        return number

    def _update(self, intent: UpdateRecord):
        self.records[intent.record_id] = replace(
            self.records[intent.record_id],
            employee_id=intent.employee_id,
            kind=intent.kind.value,
            workday=intent.workday,
            clock_in=intent.clock_in,
            clock_out=intent.clock_out,
            breaks=intent.breaks,
            written=Written(intent.clock_in, intent.clock_out, intent.breaks),
        )

    # What the server, people and other parts do between passes.

    def edit(self, number, **changes):
        """Another time or code on the server: a new tap, which remembers the record that it leaves."""
        punch = self.punches[number]
        left = {"record_id": None, "imported_role": None, "edited_record": punch.record_id, "edited_from": punch.at}
        left = left if punch.record_id is not None else {}
        self.punches[number] = replace(punch, outcome=None, covered_by=None, **left, **changes)

    def edit_tap(self, text, to):
        """`edit_tap("O 17:00", "O 18:00")`; it is called by its new text from then on."""
        number = self.texts.pop(text)
        edited = tap(to, number, self.zone)
        self.edit(number, at=edited.at, code=edited.code, direction=edited.direction)
        self.texts[to] = number

    def edit_record(self, number, **times):
        self.records[number] = replace(self.records[number], **times)

    def decide(self, number, status="approved"):
        self.edit_record(number, status=status)

    def delete(self, number):
        self.edit_record(number, deleted=True)

    def mark(self, text, **fields):
        number = self.texts[text]
        self.punches[number] = replace(self.punches[number], **fields)

    def retry(self, text):
        self.mark(text, retry=True)

    # What can be seen.

    def outcome(self, text):
        return self.punches[self.texts[text]].outcome

    def outcomes(self):
        return {text: self.punches[number].outcome for text, number in self.texts.items()}

    def record_of(self, text):
        return self.punches[self.texts[text]].record_id

    def shown(self):
        """Standing records as local text, in order: 'Mon 08:00-17:00', breaks in brackets."""
        standing = sorted(
            (r for r in self.records.values() if not r.deleted), key=lambda r: (r.clock_in, r.kind == "overtime")
        )
        return [self._show(record) for record in standing]

    def _show(self, record):
        def clock(moment):
            local = moment.astimezone(self.zone)
            return local.strftime("%H:%M:%S" if local.second else "%H:%M")

        end = "" if record.clock_out is None else clock(record.clock_out)
        breaks = "".join(f" [{clock(a)}-{clock(b)}]" for a, b in record.breaks)
        kind = " overtime" if record.kind == "overtime" else ""
        return f"{record.workday:%a} {clock(record.clock_in)}-{end}{breaks}{kind}"
