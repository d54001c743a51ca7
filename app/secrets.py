"""Secrets at rest: AES-256-GCM bound to the place they belong to, a ring of keys, and a wrapper that no log shows.

Each module knows which of its columns hold sealed text, and rotates them. No database here.
"""

import base64
import binascii
import contextlib
import hmac
import json
import os
import re
import secrets
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12
KEY_FILE = "secret_keys"

_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,32}")
_SYNTAX = "write MUSTER_SECRET_KEYS as id:base64,id:base64 with 32 bytes a key"


class SecretError(Exception):
    """A key or a sealed text that cannot be used. The message never holds either."""


class Secret:
    """Text that shows itself only when asked by name."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(
            self._text.encode("utf-8", "surrogatepass"), other._text.encode("utf-8", "surrogatepass")
        )

    def __hash__(self) -> int:
        return hash(("Secret", self._text))

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not written anywhere; seal it")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sealed text belongs. Moved to another row, column or workspace it does not open."""

    table: str
    column: str
    workspace: str
    row: str

    def bound_data(self) -> bytes:
        return json.dumps(["muster", self.table, self.column, self.workspace, self.row]).encode()


class KeyRing:
    """Seals with the first key, opens with all."""

    __slots__ = ("_ciphers", "_first", "_roots")

    def __init__(self, keys: dict[str, bytes]) -> None:
        if not keys:
            raise SecretError(f"There is no secret key; {_SYNTAX}.")
        self._ciphers = {key_id: AESGCM(_checked_key(key_id, key)) for key_id, key in keys.items()}
        self._first = next(iter(keys))
        self._roots = tuple(keys.values())

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The ring that MUSTER_SECRET_KEYS describes. Raises SecretError naming the id, never the key."""
        keys: dict[str, bytes] = {}
        for number, item in enumerate(filter(None, (part.strip() for part in text.split(","))), 1):
            key_id, colon, encoded = item.partition(":")
            if not colon or not _KEY_ID.fullmatch(key_id):
                raise SecretError(f"Secret key number {number} has an invalid id; {_SYNTAX}.")
            if key_id in keys:
                raise SecretError(f"The secret key id {key_id!r} is there twice.")
            keys[key_id] = _decoded_key(key_id, encoded)
        return cls(keys)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the keys; the first one seals."""
        return tuple(self._ciphers)

    def seal(self, secret: Secret | str, place: Place) -> str:
        """`keyid.nonce.ciphertext`, for one text column."""
        plain = (secret.reveal() if isinstance(secret, Secret) else secret).encode()
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = self._ciphers[self._first].encrypt(nonce, plain, place.bound_data())
        return f"{self._first}.{_text(nonce)}.{_text(sealed)}"

    def open(self, sealed: str, place: Place) -> Secret:
        """What was sealed for this very place. Raises SecretError when the key is gone, the text changed or moved."""
        key_id, nonce, ciphertext = _parts(sealed)
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise SecretError(f"This was sealed with the key {key_id!r}, which MUSTER_SECRET_KEYS does not hold.")
        try:
            return Secret(cipher.decrypt(nonce, ciphertext, place.bound_data()).decode())
        except (InvalidTag, UnicodeDecodeError):
            raise SecretError(
                f"The secret in {place.table}.{place.column} does not open: it was changed, moved, or sealed with another key "
                f"of the same id."
            ) from None

    def derive(self, purpose: str) -> bytes:
        """A key for one purpose that is not sealing, such as signing form tokens. It changes with the first key."""
        return self.derive_each(purpose)[0]

    def derive_each(self, purpose: str) -> tuple[bytes, ...]:
        """The same of every key in the ring, the first one's first:
        for finding again what was made before a new key came."""
        return tuple(hmac.digest(root, f"muster.{purpose}".encode(), "sha256") for root in self._roots)

    def needs_rotation(self, sealed: str) -> bool:
        """True when another key than the first sealed this."""
        return _parts(sealed)[0] != self._first

    def rotated(self, sealed: str, place: Place) -> str:
        """The same secret under the first key; the same text when it is already."""
        return self.seal(self.open(sealed, place), place) if self.needs_rotation(sealed) else sealed


def new_key_text(key_id: str) -> str:
    """A fresh key in the form of MUSTER_SECRET_KEYS."""
    return f"{key_id}:{base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()}"


def load_or_create_keys(data_dir: Path) -> KeyRing:
    """The ring kept in the data directory, made on first use with mode 0600.

    Several processes may start at once: the file appears whole, and all of them read the one that won.
    Raises SecretError when the file is broken or others can read it.
    """
    path = data_dir / KEY_FILE
    if not path.exists():
        _create(path)
    _refuse_open_file(path)
    return KeyRing.from_text(path.read_text("ascii", "replace"))


def _create(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{KEY_FILE}.")  # mode 0600 from the start
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(new_key_text("k1") + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(scratch, path)  # fails where a rename would overwrite the key another process just made
    except FileExistsError:
        pass
    finally:
        Path(scratch).unlink()


def _refuse_open_file(path: Path) -> None:
    if not stat.S_IMODE(path.stat().st_mode) & 0o077:
        return
    with contextlib.suppress(OSError):
        path.chmod(0o600)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise SecretError(
            f"Others can read {path}, and its mode cannot be changed; keep the keys in MUSTER_SECRET_KEYS."
        )


def _decoded_key(key_id: str, encoded: str) -> bytes:
    try:
        return _checked_key(key_id, base64.b64decode(encoded.strip(), validate=True))
    except ValueError:
        raise SecretError(f"The secret key {key_id!r} is not base64; {_SYNTAX}.") from None


def _checked_key(key_id: str, key: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise SecretError(f"The secret key {key_id!r} has {len(key)} bytes; {_SYNTAX}.")
    return key


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _parts(sealed: str) -> tuple[str, bytes, bytes]:
    key_id, *encoded = sealed.split(".")
    try:
        nonce, ciphertext = (base64.b64decode(part + "=" * (-len(part) % 4), "-_", validate=True) for part in encoded)
    except (binascii.Error, ValueError):
        raise SecretError("This is not a sealed text (keyid.nonce.ciphertext).") from None
    if len(nonce) != NONCE_BYTES:
        raise SecretError("This is not a sealed text (keyid.nonce.ciphertext).")
    return key_id, nonce, ciphertext
