"""Small pictures for people and punches: drawn from the name, so that no real face is needed."""

import struct
import zlib
from hashlib import sha256

CELLS, CELL_PX = 8, 8


def draw(subject: str) -> bytes:
    """A PNG of 64 by 64 pixels, mirrored left to right; the same subject gives the same picture."""
    digest = sha256(subject.encode()).digest()
    ink = bytes(60 + value % 140 for value in digest[:3])
    lines = []
    for row in range(CELLS):
        bits = digest[4 + row]
        half = [bool(bits >> place & 1) for place in range(CELLS // 2)]
        line = b"".join((ink if cell else b"\xf2\xf2\xef") * CELL_PX for cell in half + half[::-1])
        lines.append((b"\0" + line) * CELL_PX)
    side = CELLS * CELL_PX
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(b"".join(lines))) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
