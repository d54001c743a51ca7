"""What each permission means, in words for the person who ticks it. Which roles have it: app.accounts.roles."""

from app import registry

GROUPS = registry.permission_groups()
EXPLAINED = {one.name: one for group in GROUPS for one in group.permissions}


def label_of(permission: str) -> str:
    """What a permission is called on the page Roles. One that an older release gave to a role stands for itself."""
    known = EXPLAINED.get(permission)
    return known.label if known else permission


def needed(permission: str) -> str:
    """The sentence for somebody who lacks it."""
    return (
        f"You need the right “{label_of(permission)}” for this. An administrator of your workspace can give it to you."
    )
