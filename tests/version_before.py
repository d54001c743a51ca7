"""The version before this one: which commit it is, and its program in a folder of its own.

With each release, COMMIT becomes the commit with which the release was finished, and NEWEST its newest step of each
module. Then the steps since then must leave that version running (tests/db/step_rules.py), and it is run beside this
one (tests/upgrade/test_side_by_side.py). It runs with the packages of this version.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The last commit of the release whose newest steps these are. Every migration of the coming release is younger.
COMMIT = "426565b12afd084e7aa3b42b96b0f163af2783ab"
NEWEST = {
    "clock": "2026_11_24_first_test",
    "host": "2026_11_24_saved_views",
    "shared": "2026_11_24_passkeys",
    "surveys": "2026_11_23_unnoted_versions",
}


@contextmanager
def version_before(folder: Path) -> Iterator[Path]:
    """Its working tree in `folder`, which must not be there yet.
    Skips the test where the history does not reach back to it."""
    if _git("cat-file", "-e", f"{COMMIT}^{{commit}}") != 0:
        pytest.skip(f"the version before, commit {COMMIT[:7]}, is not in this clone; `git fetch --unshallow` brings it")
    assert _git("worktree", "add", "--quiet", "--detach", str(folder), COMMIT) == 0
    try:
        yield folder
    finally:
        _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> int:
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False).returncode
    except FileNotFoundError:  # no git on this machine
        return 1
