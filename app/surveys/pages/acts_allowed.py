"""Which acts a page offers for a survey: by status, permission and the workspace's ceiling.

app.surveys.authoring.actions refuses for every caller what is not offered here.
"""

from collections.abc import Collection
from datetime import datetime

from app.errors import Forbidden
from app.surveys.authoring.ceilings import refuse_above
from app.surveys.authoring.definition import unpublishable
from app.surveys.authoring.stored import Stored

# Why an act leaves a survey as it is: the words for one survey, and for several.
Hindrance = tuple[str, str]
_UNDELETABLE = ("is not a draft without responses", "are not drafts without responses")
_BY_STATUS: dict[tuple[str, str], Hindrance] = {
    ("publish", "published"): ("is published already", "are published already"),
    ("archive", "archived"): ("is archived already", "are archived already"),
    ("archive", "draft"): ("is a draft, which is not asked", "are drafts, which are not asked"),
    ("delete", "published"): _UNDELETABLE,
    ("delete", "archived"): _UNDELETABLE,
}

BY_PUBLISHERS = frozenset({"publish", "archive"})


def allowed(
    *, status: str, enforcement: str, responses: int, ceiling: str, permissions: Collection[str]
) -> frozenset[str]:
    """Which of edit, duplicate, delete, publish and archive are offered. Archiving is always allowed."""
    acts = {"archive"} if status == "published" else set()
    if not limits(ceiling, enforcement):
        acts |= {"edit", "duplicate"}
        acts |= {"publish"} if status != "published" else set()
        acts |= {"delete"} if status == "draft" and not responses else set()
    return frozenset(act for act in acts if needed_for(act) in permissions)


def hindrance(act: str, stored: Stored, ceiling: str, now: datetime) -> Hindrance | None:
    """Why publish, archive or delete leaves one of many surveys as it is; None when it does not."""
    if why := _BY_STATUS.get((act, stored.status)):
        return why
    if act == "delete" and stored.answered:
        return _UNDELETABLE
    if act != "archive" and limits(ceiling, stored.definition.enforcement):
        return "lies above the authoring ceiling", "lie above the authoring ceiling"
    if act == "publish" and unpublishable(stored.definition, now):
        return "can't be asked as it is", "can't be asked as they are"
    return None


def needed_for(act: str) -> str:
    """The permission behind an act."""
    return "surveys.publish" if act in BY_PUBLISHERS else "surveys.author"


def limits(ceiling: str, enforcement: str = "required") -> str:
    """Why a survey of this enforcement is refused, in a sentence; "" when it is not."""
    try:
        refuse_above(ceiling, enforcement)
    except Forbidden as refused:
        return refused.message
    return ""
