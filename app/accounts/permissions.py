"""What each permission means, in words for the person who gives it. Which roles have it: app.accounts.roles."""

from app import registry

GROUPS = registry.permission_groups()
EXPLAINED = {one.name: one for group in GROUPS for one in group.permissions}


def label_of(permission: str) -> str:
    """The name of a permission on the page Roles. A permission that only an older release knew is shown by its key."""
    known = EXPLAINED.get(permission)
    return known.label if known else permission


def needed(permission: str) -> str:
    """The sentence for somebody without the permission."""
    return (
        f"You need the right “{label_of(permission)}” for this. An administrator of your workspace can give it to you."
    )
