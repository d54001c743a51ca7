"""Which acts a page offers for a survey: by status, permission and the workspace's ceiling.

What is not offered here is refused by app.surveys.authoring, whoever asks.
"""

from collections.abc import Collection

from app.errors import Forbidden
from app.surveys.ceilings import refuse_above

BY_PUBLISHERS = frozenset({"publish", "archive"})


def allowed(
    *, status: str, enforcement: str, responses: int, ceiling: str, permissions: Collection[str]
) -> frozenset[str]:
    """Of edit, duplicate, delete, publish and archive. Archiving is within every ceiling (design: decisions, "Ceiling")."""
    acts = {"archive"} if status == "published" else set()
    if not limits(ceiling, enforcement):
        acts |= {"edit", "duplicate"}
        acts |= {"publish"} if status != "published" else set()
        acts |= {"delete"} if status == "draft" and not responses else set()
    return frozenset(act for act in acts if needed_for(act) in permissions)


def needed_for(act: str) -> str:
    """The permission behind an act."""
    return "surveys.publish" if act in BY_PUBLISHERS else "surveys.author"


def limits(ceiling: str, enforcement: str = "required") -> str:
    """The sentence with which a survey of this enforcement is refused; "" where it is not."""
    try:
        refuse_above(ceiling, enforcement)
    except Forbidden as refused:
        return refused.message
    return ""
