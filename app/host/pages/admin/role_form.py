"""The form of a role: permissions by group, each with a sentence, and a box that stands for all of a group.
Its pages: roles."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from litestar.datastructures import FormMultiDict

from app.accounts.permissions import EXPLAINED, GROUPS
from app.registry import Permission, PermissionGroup
from app.web.edits import TAKE, THEIRS
from app.web.fields import Choices, Text
from app.web.forms import Bound, Form

PERMISSIONS, ALL = "permissions", "all"
_BY_KEY = {group.key: group for group in GROUPS}


class RoleForm(Form):
    """`own` are the permissions of the person who fills it in: they can give only these."""

    def __init__(self, own: Collection[str]) -> None:
        options = {name: one.label for name, one in EXPLAINED.items()}
        super().__init__(
            Text("name", "Name", required=True, longest=100),
            Choices(PERMISSIONS, "Permissions", required=True, options=options),
        )
        self.own = own

    def read(self, posted: FormMultiDict) -> Bound:
        """Each `all=GROUP` stands for those permissions of the group that the person has. Boxes of single permissions
        are read as they are."""
        wanted = [] if posted.get(TAKE + PERMISSIONS) == THEIRS else posted.getall(ALL, [])
        groups = [_BY_KEY[key] for key in wanted if key in _BY_KEY]
        added = [(PERMISSIONS, one.name) for group in groups for one in group.permissions if one.name in self.own]
        bound = super().read(FormMultiDict([*posted.multi_items(), *added]))
        bound.shown[PERMISSIONS] = list(dict.fromkeys(bound.shown[PERMISSIONS]))
        if len(groups) < len(wanted):
            bound.refuse(PERMISSIONS, "Choose from the list.")
        return bound


@dataclass(frozen=True, slots=True)
class PermissionBox:
    """`beyond`: the person does not have this permission, so they can't tick the box."""

    permission: Permission
    ticked: bool
    beyond: bool
    disabled: bool


@dataclass(frozen=True, slots=True)
class GroupOfBoxes:
    """`whole` is what the box for the whole group says; "" when there is nothing to choose."""

    group: PermissionGroup
    boxes: Sequence[PermissionBox]
    whole: str

    @property
    def ticked(self) -> int:
        return sum(one.ticked for one in self.boxes)


def boxes(form: Bound, own: Collection[str], *, fixed: bool) -> list[GroupOfBoxes]:
    """All groups as the form shows them. `fixed`: a built-in role, which is only looked at."""
    ticked = set(form.shown[PERMISSIONS])
    return [_group(group, ticked, own, fixed=fixed) for group in GROUPS]


def _group(group: PermissionGroup, ticked: set[str], own: Collection[str], *, fixed: bool) -> GroupOfBoxes:
    found = [_box(one, one.name in ticked, one.name not in own, fixed=fixed) for one in group.permissions]
    some_beyond = any(one.beyond for one in found)
    open_ones = any(not one.disabled and not one.beyond for one in found)
    whole = "All that you may give" if some_beyond else "All of it"
    return GroupOfBoxes(group, found, whole if open_ones else "")


def _box(permission: Permission, ticked: bool, beyond: bool, *, fixed: bool) -> PermissionBox:  # noqa: FBT001 - what a box is
    return PermissionBox(permission, ticked, beyond, disabled=fixed or (beyond and not ticked))
