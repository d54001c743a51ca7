"""The file of a tenant: a header, then frames that a passphrase seals. No database here.

The header is one line of JSON after a magic line. A frame is four bytes of length and AES-256-GCM over one byte of kind
and the compressed content; its nonce counts, and the header is authenticated with each. So changed, moved, added and
missing frames are noticed, and the last kind, END, proves that nothing was cut off. docs/operate.md describes the
format.
"""

import base64
import hashlib
import hmac
import secrets
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from app.errors import Conflict
from app.secrets import KeyRing, Secret

FORMAT = 1
MAGIC = b"MUSTER TENANT\n"
# In bytes of content: a frame has no more. Longer rows continue in the next one.
FRAME = 256 * 1024
# The head of a part (JSON), bytes of COPY, rows of sealed texts (JSON), the sums of a part (JSON),
# the sums of the file (JSON).
PART, ROWS, SECRETS, SUMS, END = b"P", b"R", b"S", b"E", b"Z"
# scrypt with 128 MiB of memory. It is part of the format, so a file can't ask for more.
_COST, _BLOCK, _LANES = 2**17, 8, 1
_LONGEST_HEADER = 16 * 1024
_LENGTH = struct.Struct(">I")
_LONGEST_FRAME = FRAME * 2
_QUICK = 3
_BROKEN = "The file was changed, or cut off: {}. Nothing was written. Copy it again, or export again."


class BoxHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The readable beginning of a file. `heads` has the newest migration of each module, `salt` (base64) makes the
    passphrase a key, and `check` (hex) tells a wrong passphrase from a damaged file."""

    format: int
    tenant: str
    made_at: datetime
    heads: dict[str, str]
    salt: str
    check: str


class PartHead(msgspec.Struct, frozen=True):
    """The table of the rows that follow, in the text format of COPY. `last_id` is the last id that the table has given,
    None when it gives none."""

    table: str
    columns: list[str]
    last_id: int | None = None


class PartSums(msgspec.Struct, frozen=True):
    """How many rows and sealed texts a part has, and SHA-256 over the bytes of its rows."""

    rows: int
    secrets: int
    sha256: str


class BoxSums(msgspec.Struct, frozen=True):
    """How many parts a file has, and SHA-256 over the sums of all parts, in order."""

    parts: int
    sha256: str


SealedRow = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class _Keys:
    """Made from the passphrase: the cipher of frames, the ring that seals secrets inside, and the header's check."""

    frames: AESGCM
    ring: KeyRing
    check: str


class BoxWriter:
    """Writes a file part by part: `part`, `rows`, `secrets`, `end_part`, and `end` once."""

    def __init__(
        self, file: BinaryIO, passphrase: Secret, tenant: str, made_at: datetime, heads: Mapping[str, str]
    ) -> None:
        salt = secrets.token_bytes(16)
        keys = _keys_of(passphrase, salt)
        self.ring = keys.ring
        header = BoxHeader(FORMAT, tenant, made_at, dict(heads), base64.b64encode(salt).decode(), keys.check)
        line = msgspec.json.encode(header) + b"\n"
        file.write(MAGIC + line)
        self._frames = _Sealing(file, keys.frames, line)
        self._waiting = bytearray()
        self._rows, self._secrets, self._sum = 0, 0, hashlib.sha256()
        self._parts, self._whole = 0, hashlib.sha256()

    def part(self, head: PartHead) -> None:
        self._frames.write(PART, msgspec.json.encode(head))

    def rows(self, data: bytes) -> None:
        """Bytes of COPY, cut anywhere."""
        self._sum.update(data)
        self._waiting += data
        while len(self._waiting) >= FRAME:
            self._frames.write(ROWS, bytes(self._waiting[:FRAME]))
            del self._waiting[:FRAME]

    def secrets(self, column: str, sealed: list[tuple[int, str]]) -> None:
        """Texts of a column that the box's ring sealed, by the id of their row."""
        self._flush()
        self._secrets += len(sealed)
        self._frames.write(SECRETS, msgspec.json.encode([(row, column, text) for row, text in sealed]))

    def end_part(self, rows: int) -> None:
        self._flush()
        sums = msgspec.json.encode(PartSums(rows, self._secrets, self._sum.hexdigest()))
        self._frames.write(SUMS, sums)
        self._whole.update(sums)
        self._parts += 1
        self._secrets, self._sum = 0, hashlib.sha256()

    def end(self) -> str:
        """Ends the file. Returns the sum of the whole file, which `BoxReader.sums` returns again."""
        whole = self._whole.hexdigest()
        self._frames.write(END, msgspec.json.encode(BoxSums(self._parts, whole)))
        return whole

    def _flush(self) -> None:
        if self._waiting:
            self._frames.write(ROWS, bytes(self._waiting))
            self._waiting.clear()


class _Sealing:
    def __init__(self, file: BinaryIO, cipher: AESGCM, header: bytes) -> None:
        self._file, self._cipher, self._about, self._number = file, cipher, _about(header), 0

    def write(self, kind: bytes, content: bytes) -> None:
        sealed = self._cipher.encrypt(_nonce(self._number), kind + zlib.compress(content, _QUICK), self._about)
        self._file.write(_LENGTH.pack(len(sealed)) + sealed)
        self._number += 1


def read_header(file: BinaryIO) -> BoxHeader:
    """Raises Conflict for another kind of file, and for one of a newer version."""
    return _header(file)[0]


def _header(file: BinaryIO) -> tuple[BoxHeader, bytes]:
    file.seek(0)
    magic, line = file.read(len(MAGIC)), file.readline(_LONGEST_HEADER)
    if magic != MAGIC:
        raise Conflict("This is not a file of `muster tenant:export`.")
    try:
        if msgspec.json.decode(line, type=dict).get("format") != FORMAT:
            raise Conflict(
                f"This file has another format than {FORMAT}. Import it with the Muster version that made it."
            )
        return msgspec.json.decode(line, type=BoxHeader), line
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Conflict(_BROKEN.format("its header can't be read")) from None


class BoxReader:
    """Reads a file as often as `frames` is called. Raises Conflict for a wrong passphrase, which a changed header looks
    like."""

    def __init__(self, file: BinaryIO, passphrase: Secret) -> None:
        self.header, self._line = _header(file)
        self._file, self._begin = file, file.tell()
        try:
            salt = base64.b64decode(self.header.salt, validate=True)
        except ValueError:
            raise Conflict(_BROKEN.format("its header can't be read")) from None
        keys = _keys_of(passphrase, salt)
        if not hmac.compare_digest(keys.check.encode(), self.header.check.encode()):
            raise Conflict("The passphrase is wrong, or the header of the file was changed. Nothing was written.")
        self.ring, self._cipher = keys.ring, keys.frames

    def verify(self) -> BoxSums:
        """Reads everything once. Raises Conflict when the file was changed or cut off."""
        for kind, content in self.frames():
            if kind == END:
                sums = msgspec.json.decode(content, type=BoxSums)
        return sums

    def frames(self) -> Iterator[tuple[bytes, bytes]]:
        """(kind, content) in order. Raises Conflict before it returns a faulty frame."""
        sums = _Sums()
        self._file.seek(self._begin)
        number, ended = 0, False
        while (sealed := self._next()) is not None:
            if ended:
                raise Conflict(_BROKEN.format("something follows its end"))
            kind, content = self._opened(number, sealed)
            sums.add(kind, content)
            number, ended = number + 1, kind == END
            yield kind, content
        if not ended:
            raise Conflict(_BROKEN.format("its end is missing"))

    def _next(self) -> bytes | None:
        length = self._file.read(_LENGTH.size)
        if not length:
            return None
        size = _LENGTH.unpack(length)[0] if len(length) == _LENGTH.size else _LONGEST_FRAME + 1
        sealed = self._file.read(size) if size <= _LONGEST_FRAME else b""
        if len(sealed) != size:
            raise Conflict(_BROKEN.format("a frame is not whole"))
        return sealed

    def _opened(self, number: int, sealed: bytes) -> tuple[bytes, bytes]:
        try:
            plain = self._cipher.decrypt(_nonce(number), sealed, _about(self._line))
            return plain[:1], zlib.decompress(plain[1:])
        except (InvalidTag, zlib.error):
            raise Conflict(_BROKEN.format(f"frame {number + 1} does not open")) from None


class _Sums:
    """Adds up what a reader reads, and compares it with what the writer wrote."""

    def __init__(self) -> None:
        self._secrets, self._sum = 0, hashlib.sha256()
        self._parts, self._whole = 0, hashlib.sha256()

    def add(self, kind: bytes, content: bytes) -> None:
        if kind == ROWS:
            self._sum.update(content)
        elif kind == SECRETS:
            self._secrets += len(msgspec.json.decode(content))
        elif kind == SUMS:
            self._end_part(content)
        elif kind == END:
            _refuse_other(msgspec.json.decode(content, type=BoxSums), BoxSums(self._parts, self._whole.hexdigest()))

    def _end_part(self, content: bytes) -> None:
        said = msgspec.json.decode(content, type=PartSums)
        _refuse_other(said, PartSums(said.rows, self._secrets, self._sum.hexdigest()))
        self._whole.update(content)
        self._parts += 1
        self._secrets, self._sum = 0, hashlib.sha256()


def _refuse_other(said: object, found: object) -> None:
    if said != found:
        raise Conflict(_BROKEN.format("its checksums do not fit"))


def _keys_of(passphrase: Secret, salt: bytes) -> _Keys:
    root = Scrypt(salt=salt, length=32, n=_COST, r=_BLOCK, p=_LANES).derive(passphrase.reveal().encode())
    check, frames, ring = (
        hmac.digest(root, b"muster.tenant." + use, "sha256") for use in (b"check", b"frames", b"ring")
    )
    return _Keys(AESGCM(frames), KeyRing({"passphrase": ring}), check.hex())


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "big")


def _about(header: bytes) -> bytes:
    return hashlib.sha256(MAGIC + header).digest()


def names(head: bytes) -> PartHead:
    return msgspec.json.decode(head, type=PartHead)


def sealed_rows(content: bytes) -> list[SealedRow]:
    """(id of the row, column, text) of a SECRETS frame."""
    return msgspec.json.decode(content, type=list[SealedRow])


def rows_of(sums: bytes) -> int:
    return msgspec.json.decode(sums, type=PartSums).rows
