"""What an app's icon may be: a small PNG, JPEG or WebP picture, known by its first bytes. Pure.

What a browser calls the file does not matter. No SVG: one can carry a script.
"""

import hashlib
from dataclasses import dataclass

from app.errors import Invalid

LARGEST = 64 * 1024
ACCEPTED = ".png,.jpg,.jpeg,.webp,image/png,image/jpeg,image/webp"
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


@dataclass(frozen=True, slots=True)
class Icon:
    """`type` is the media type that the bytes say."""

    type: str
    data: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def __str__(self) -> str:
        return f"{self.type}, {len(self.data):,} bytes, {self.digest[:12]}"


def read(data: bytes) -> Icon:
    """The icon in an uploaded file. Raises Invalid for anything that is not a small picture."""
    if len(data) > LARGEST:
        raise Invalid.at(
            "icon",
            f"At most {LARGEST // 1024} KiB; this file has {len(data):,} bytes. Make the picture smaller, such as 256 × 256.",
        )
    kind = _type_of(data)
    if kind is None:
        raise Invalid.at("icon", "This is not a PNG, JPEG or WebP picture. Save it as one of these.")
    return Icon(kind, data)


def _type_of(data: bytes) -> str | None:
    if data.startswith(_PNG) and data[12:16] == b"IHDR":
        return "image/png"
    if data.startswith(_JPEG):
        return "image/jpeg"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
