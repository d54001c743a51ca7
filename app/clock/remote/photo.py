"""Pictures of people and punches: what counts as one. Fetched on view, never stored."""

from dataclasses import dataclass

from app.clock.remote.errors import SHAPE, ClockError

PHOTO_BYTES = 2 * 1024 * 1024
_IMAGES = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif"}


@dataclass(frozen=True, slots=True, repr=False)
class Photo:
    content: bytes
    media_type: str


def photo_of(content: bytes) -> Photo:
    """A picture by its first bytes, whatever the server calls it: SVG, which may carry scripts, is none."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return Photo(content, "image/webp")
    media_type = next((name for magic, name in _IMAGES.items() if content.startswith(magic)), None)
    if media_type is None:
        raise ClockError(SHAPE, "The answer is not a picture.")
    return Photo(content, media_type)
