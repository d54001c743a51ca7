"""A company on top of the small store: several employees and codes, judged by the product as the importer does."""

from dataclasses import replace

from app.clock.pairing import judge as pairing
from app.clock.pairing.inputs import FOLDS, UNPAIRED, Case, PairingEmployee, Unbound
from app.clock.pairing.use_punches import Use, use_punches
from tests.clock.mirror_store import Store

CODES = ("1", "2", "3")
TERMINALS = ("T1", "T2", "T3")


class Company(Store):
    """Several employees and codes on top of the store of one, judged as the importer does."""

    def __init__(self, rules):
        super().__init__(rules=rules)
        self.bindings = dict.fromkeys(CODES)
        self.terminals = dict.fromkeys(TERMINALS, ("by_code", False))
        self.inactive = set()
        self.unread = []

    def who_of(self, code):
        employee = self.bindings[code]
        return Unbound() if employee is None else PairingEmployee(employee, employee not in self.inactive)

    def groups(self):
        """Each code that no employee stands behind, then each employee with all codes."""
        unbound = [(Unbound(), (code,)) for code in CODES if self.bindings[code] is None]
        people = sorted({who for who in self.bindings.values() if who is not None})
        return unbound + [(self.who_of(self.codes_of(who)[0]), self.codes_of(who)) for who in people]

    def codes_of(self, employee):
        return tuple(code for code in CODES if self.bindings[code] == employee)

    def punches_of(self, codes):
        return [self.as_it_is(punch) for punch in self.punches.values() if punch.emp_code in codes]

    def as_it_is(self, punch):
        direction, access = self.terminals[punch.terminal_sn]
        return replace(punch, direction=direction, is_access=access)

    def elsewhere(self, codes):
        mine = self.punches_of(codes)
        records = {record for punch in mine for record in (punch.record_id, punch.edited_record)} - {None}
        return [punch for punch in self.punches.values() if punch.record_id in records and punch.emp_code not in codes]

    def judge_all(self, now):
        for who, codes in self.groups():
            self.apply(pairing.judge(self.case_of(who, codes, now)))

    def case_of(self, who, codes, now):
        punches, records = self.punches_of(codes), list(self.records.values())
        elsewhere = self.elsewhere(codes)
        return Case(
            who, punches, records, self.rules, now, locked_days=self.locked, unread=self.unread, elsewhere=elsewhere
        )

    def bind(self, code, employee):
        self.bindings[code] = employee
        for number, punch in self.punches.items():
            waits = punch.emp_code == code and punch.record_id is None and punch.outcome not in UNPAIRED
            if waits and not punch.gone and employee is not None:
                self.punches[number] = replace(punch, outcome=None, covered_by=None)

    def delete(self, number):
        super().delete(number)
        for key, punch in self.punches.items():
            if punch.record_id == number:
                outcome = punch.outcome if punch.outcome in FOLDS else "attendance_deleted"
                self.punches[key] = replace(punch, record_id=None, outcome=outcome, retry=False, lifted=False)
            elif punch.edited_record == number:
                self.punches[key] = replace(punch, retry=False, lifted=False)

    def change_person(self, number, emp_code):
        self._comes(number, emp_code=emp_code)

    def find_again(self, number):
        self._comes(number)

    def lose(self, number):
        self.punches[number] = replace(self.punches[number], gone=True)

    def _comes(self, number, **changes):
        punch = self.punches[number]
        new = {"outcome": None, "covered_by": None} if punch.record_id is None else {}
        self.punches[number] = replace(punch, gone=False, **new, **changes)

    def retry_one(self, number):
        punch = self.punches[number]
        if punch.outcome == "attendance_deleted" or punch.outcome in UNPAIRED:
            self.punches[number] = replace(punch, retry=True)

    def use(self, number, now):
        codes = self.codes_of(self.bindings[self.punches[number].emp_code])
        linked = self.elsewhere(codes) + [punch for punch in self.punches.values() if punch.edited_record is not None]
        found = use_punches(self.case_of(self.who_of(codes[0]), codes, now), number, linked)
        if isinstance(found, Use):
            self.carry_out(found)

    def carry_out(self, found):
        self._update(found.update)
        for number in found.delete:
            self.edit_record(number, deleted=True)
        for one in found.verdicts:
            self.punches[one.punch_id] = replace(
                self.punches[one.punch_id],
                outcome=one.outcome.value,
                record_id=one.record,
                imported_role=one.role,
                retry=False,
                lifted=False,
                repeats=one.repeats,
                edited_record=None,
                edited_from=None,
            )
        for number in found.released:
            self.punches[number] = replace(
                self.punches[number],
                outcome=None,
                covered_by=None,
                record_id=None,
                imported_role=None,
                retry=False,
                lifted=False,
                repeats=None,
                edited_record=None,
                edited_from=None,
            )
