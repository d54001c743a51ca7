"""Fields that several answers of the surveys' two APIs share."""

from typing import Annotated, Literal

import msgspec

Version = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64, description="SHA-256, in hex.")]
Outcome = Literal["answered", "agreed", "declined", "opted_out"]
Standing = Literal["answered", "agreed", "declined", "withdrawn", "opted_out"]
