"""An unexpected error in one line that anybody may read. What a person is told of an expected one: app.errors."""

import traceback
from pathlib import Path

ROOT = Path(__file__).parents[1]
_OURS = frozenset({"app", "workers"})


def described(error: BaseException) -> str:
    """Its type and where in our code it came up. Not its text: that may hold a row or a secret."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_ours(Path(frame.filename))]
    if not ours:
        return type(error).__name__
    place = ours[-1]
    return f"{type(error).__name__} in {Path(place.filename).relative_to(ROOT)}, line {place.lineno}"


def _is_ours(path: Path) -> bool:
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in _OURS
