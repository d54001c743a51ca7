"""What there is: punches with what the import remembers of them, records, terminals, bindings."""

from dataclasses import dataclass, field

FOLDS = ("repeat_tap", "double_tap")
LINES_1_TO_5 = ("future_timestamp", "access_terminal", "not_bound", "employee_inactive", "no_direction")
DECIDED = ("approved", "rejected", "auto_closed")


@dataclass(eq=False)
class Punch:
    """A mirrored row, and under it what the import remembers of it."""

    id: int
    remote_id: str
    emp_code: str
    at: object
    code: int | None
    terminal: str
    word: str | None = None
    record: "Record | None" = None
    role: str | None = None  # the role it was imported with
    repeats: "Punch | None" = None  # its own tap, when it is a fold
    lost_a_record: bool = False  # the record it was imported into was deleted
    lifted: bool = False  # a Retry lifted that
    asked: bool = False  # a person asked for it again
    left: "Record | None" = None  # the record that it was in when the server edited it
    left_at: object = None  # the hour that it had there
    gone: bool = False  # the server has it no more
    covered_by: "Record | None" = None  # the record made by hand that holds it, and so settles it

    def show(self, word):
        self.word, self.covered_by = word, None
        if word not in FOLDS:
            self.repeats = None

    def join(self, record, role):
        self.record = record
        self.role = None if record is None else role
        if record is not None:
            self.lost_a_record = self.lifted = False
            self.left = self.left_at = None

    def release(self):
        """It is judged like a new one."""
        self.record = self.role = self.word = self.repeats = None
        self.lost_a_record = self.lifted = self.asked = False
        self.left = self.left_at = None

    def record_behind(self):
        """The record that an edited punch left, as long as it has the hour that the punch gave it."""
        return self.left if self.left is not None and self.left_at in self.left.hours() else None


@dataclass(eq=False)
class Record:
    id: int
    employee: int
    kind: str
    workday: object
    clock_in: object
    clock_out: object
    breaks: tuple = ()
    status: str = "pending"
    deleted: bool = False
    written: tuple | None = None  # clock-in, clock-out and breaks, as the import last wrote them
    is_by_hand: bool = False

    def is_decided(self):
        return self.status in DECIDED

    def is_edited(self):
        return self.written != (self.clock_in, self.clock_out, tuple(sorted(self.breaks)))

    def hours(self):
        """Every instant that the import last wrote."""
        clock_in, clock_out, breaks = self.written
        return [clock_in, *(at for one in breaks for at in one), *([] if clock_out is None else [clock_out])]

    def write(self, clock_in, clock_out, breaks):
        self.clock_in, self.clock_out, self.breaks = clock_in, clock_out, breaks
        self.written = (clock_in, clock_out, tuple(sorted(breaks)))


@dataclass
class Terminal:
    direction: str = "by_code"
    is_door_reader: bool = False


@dataclass
class World:
    settings: object
    punches: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)
    terminals: dict = field(default_factory=dict)
    bindings: dict = field(default_factory=dict)  # code -> employee, or None
    inactive: set = field(default_factory=set)
    locked: set = field(default_factory=set)
    unfolded: list = field(
        default_factory=list
    )  # while an employee is judged: folds that an arrival has just un-folded

    def employee_of(self, punch):
        return self.bindings.get(punch.emp_code)

    def everyone(self):
        return sorted({who for who in self.bindings.values() if who is not None})

    def punches_of(self, who):
        return by_time(punch for punch in self.punches.values() if self.employee_of(punch) == who)

    def workday(self, at):
        return at.astimezone(self.settings.zone).date()

    def stands(self, punch):
        """It belongs to a record that stands."""
        return punch.record is not None and not punch.record.deleted and punch not in self.unfolded

    def is_out(self, punch):
        """The server has it no more, and it belongs to no record: it takes no part in pairing, and keeps its word."""
        return punch.gone and not self.stands(punch)


def by_time(punches):
    return sorted(punches, key=lambda punch: (punch.at, remote_order(punch.remote_id)))


def remote_order(remote_id):
    """Those that are all digits first, as numbers."""
    if remote_id.isascii() and remote_id.isdigit():
        return (0, int(remote_id), remote_id)
    return (1, 0, remote_id)
