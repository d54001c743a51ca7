"""What the audit's acts, subjects and changes are called on pages, and where a subject is shown. Pure.

An act or a subject that a later version wrote keeps its own name. The acts of all modules stand here, as the permissions do.
"""

from typing import Any
from urllib.parse import quote

ACTS = {
    "app.add": "App added",
    "app.delete": "App deleted",
    "app.edit": "App edited",
    "app.publish": "App published",
    "app.retire": "App retired",
    "attendance.add": "Record added by hand",
    "attendance.decide": "Record decided",
    "attendance.delete": "Record deleted",
    "attendance.edit": "Record edited",
    "attendance.lock": "Days locked",
    "attendance.unlock": "Days unlocked",
    "binding.accept": "Match accepted",
    "binding.bind": "Code bound",
    "binding.clear": "Binding cleared",
    "binding.ignore": "Code ignored",
    "binding.match_again": "Code matched again",
    "binding.reject": "Match rejected",
    "binding.remarks": "Remarks on a clock code written",
    "binding.un_ignore": "Code no longer ignored",
    "clock.backfill": "Backfill asked for",
    "clock.connection.pause": "Syncing paused",
    "clock.connection.resume": "Syncing resumed",
    "clock.connection.save": "Connection saved",
    "clock.connection.test": "Connection tested",
    "clock.connection.unlock": "Connection unlocked",
    "clock.device.direction": "Direction of a terminal set",
    "clock.device.kind": "Kind of a terminal set",
    "clock.device.remarks": "Remarks on a terminal written",
    "clock.disappearance.confirm": "Disappearance confirmed",
    "clock.disappearance.refuse": "Disappearance refused",
    "clock.keep_record": "Record kept as it is",
    "clock.move_record": "Record moved to another person",
    "clock.organisation.remarks": "Remarks on a unit written",
    "clock.retry": "Punches judged again",
    "clock.settings": "Clock settings changed",
    "clock.start_over": "Mirror started over",
    "clock.sync.accept": "Incomplete days accepted as read",
    "clock.sync.read_again": "Accepted days to be read again",
    "clock.sync.start": "Run started",
    "clock.sync.stop": "Run stopped",
    "clock.take_back": "Record taken back",
    "clock.use_punches": "Record made from its punches",
    "demo.remove": "Demo data removed",
    "demo.seed": "Demo data added",
    "employee.activate": "Person activated",
    "employee.add": "Person added",
    "employee.deactivate": "Person deactivated",
    "employee.delete": "Person deleted",
    "employee.edit": "Person edited",
    "employee.import": "Person imported",
    "employee.restore": "Person restored",
    "job.retry": "Job tried again",
    "kiosk.enrol": "Kiosk code enrolled",
    "kiosk.remove": "Kiosk code removed",
    "ledger.head": "Head of the ledger noted",
    "person.erase": "Evidence of a person erased",
    "policy.edit": "Policies changed",
    "role.add": "Role made",
    "role.edit": "Role edited",
    "role.remove": "Role removed",
    "survey.archive": "Survey archived",
    "survey.create": "Survey made",
    "survey.delete": "Survey deleted",
    "survey.duplicate": "Survey duplicated",
    "survey.new_version": "New version of a survey published",
    "survey.publish": "Survey published",
    "survey.save": "Survey saved",
    "tenant.activate": "Tenant activated",
    "tenant.create": "Tenant made",
    "tenant.deactivate": "Tenant deactivated",
    "tenant.edit": "Tenant edited",
    "token.create": "API token made",
    "token.revoke": "API token revoked",
    "user.activate": "User activated",
    "user.change_password": "Own password changed",
    "user.create": "User made",
    "user.deactivate": "User deactivated",
    "user.drop_second_factor": "Second factor taken off",
    "user.edit": "User edited",
    "user.enable_second_factor": "Second factor set up",
    "user.make_link": "Link for a password made",
    "user.set_password": "Password set",
    "user.sign_out": "User signed out",
    "user.unlock": "User unlocked",
    "user_type.add": "User type added",
    "user_type.remove": "User type removed",
    "user_type.rename": "User type renamed",
}
SUBJECTS = {
    "application": "App",
    "areas": "Area",
    "attendance": "Record",
    "clock_binding": "Code",
    "clock_connection": "Connection",
    "clock_employee": "Clock employee",
    "clock_listing": "List",
    "clock_settings": "Clock settings",
    "days": "Days",
    "demo": "Demo",
    "departments": "Department",
    "employee": "Person",
    "job": "Job",
    "ledger": "Ledger",
    "locations": "Location",
    "policy": "Workspace",
    "positions": "Position",
    "punch": "Punch",
    "role": "Role",
    "survey": "Survey",
    "sync_cursor": "Read again from",
    "sync_run": "Run",
    "tenant": "Tenant",
    "terminal": "Terminal",
    "token": "API token",
    "user": "User",
    "user_type": "User type",
}
# Where the page of one subject begins; its id follows.
_PAGES = {
    "application": "/apps/",
    "attendance": "/attendance/",
    "clock_employee": "/clock_employees/",
    "employee": "/people/",
    "job": "/admin/jobs/",
    "punch": "/clock_transactions/",
    "role": "/admin/roles/",
    "survey": "/surveys/view/",
    "sync_run": "/clock_sync/runs/",
    "tenant": "/admin/tenants/",
    "user": "/admin/users/",
    "user_type": "/admin/users/types/",
}
# Kept by their code: the list that has them, with the filter that takes it exactly.
_LISTS = {"clock_binding": "/clock_employees?code=", "terminal": "/clock_devices?serial="}
_ALONE = {
    "clock_connection": "/clock_settings",
    "clock_settings": "/clock_settings",
    "days": "/attendance/locks",
    "policy": "/admin/policies",
}


def act_label(act: str) -> str:
    return ACTS.get(act, act)


def acts_named(text: str) -> list[str]:
    """The acts whose label holds that text in any case."""
    return [act for act, label in ACTS.items() if text.casefold() in label.casefold()]


def subject_label(kind: str, subject: str, name: str | None = None) -> str:
    """`Person 12`, or by its name where one is given; the settings of the clock, of which there is one, without a number."""
    label = SUBJECTS.get(kind, kind.replace("_", " ").capitalize())
    if name:
        return f"{label} “{name}”"
    return label if kind in {"clock_connection", "clock_settings"} else f"{label} {subject}"


def subject_named(text: str) -> tuple[str, str]:
    """(kind, id) of `Person 12` and of `employee 12`; the id is empty where only a kind is named."""
    kinds = {kind: kind for kind in SUBJECTS} | {label.casefold(): kind for kind, label in SUBJECTS.items()}
    wanted = text.strip()
    for name in sorted(kinds, key=len, reverse=True):
        if (wanted.casefold() + " ").startswith(name + " "):
            return kinds[name], wanted[len(name) :].strip()
    kind, _, subject = wanted.partition(" ")
    return kind.casefold(), subject.strip()


def subject_page(kind: str, subject: str) -> str | None:
    """The address that shows that subject, where there is one. Whether it is still there: subjects.py; who may see it, the page says."""
    beginning = _PAGES.get(kind) or _LISTS.get(kind)
    return beginning + quote(subject, safe="") if beginning else _ALONE.get(kind)


def differences(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> list[tuple[str, str | None, str | None]]:
    """(field, before, after) as ui.diff draws them; None where the act had no such side."""
    was, is_now = before or {}, after or {}
    names = [*was, *(name for name in is_now if name not in was)]
    return [(_words(name), _side(was, name), _side(is_now, name)) for name in names]


def changes_of(before: dict[str, Any] | None, after: dict[str, Any] | None) -> str:
    """The names of what changed, for a row: `name, roles`."""
    return ", ".join(name for name, _, _ in differences(before, after))


def _side(side: dict[str, Any], name: str) -> str | None:
    return _shown(side[name]) if name in side else None


def _shown(value: Any) -> str:
    if value is None or value in ("", []):
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_shown(one) for one in value)
    if isinstance(value, dict):
        return "; ".join(f"{_words(str(key))}: {_shown(one)}" for key, one in value.items())
    return str(value)


def _words(name: str) -> str:
    return name.replace("_", " ")
