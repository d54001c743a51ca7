"""A security key made of software: it answers what a page asks for a passkey, rightly or with one thing wrong."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, WITH_KEY = 1, 4, 64
COSE_P256 = {1: 2, 3: -7, -1: 1}


@dataclass
class SoftKey:
    """`count` is what it says at its next use; None for one that does not count."""

    origin: str
    flags: int = PRESENT | VERIFIED
    count: int | None = 1
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def make(self, request: str, **wrong: Any) -> str:
        """The answer to `navigator.credentials.create`. `wrong` replaces parts of what it answers."""
        asked = json.loads(request)
        point = self.key.public_key().public_numbers()
        cose = {**COSE_P256, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)}
        named = len(self.credential_id).to_bytes(2) + self.credential_id
        data = self._data(asked["rp"]["id"], WITH_KEY, wrong) + bytes(16) + named + cbor2.dumps(cose)
        made = {"fmt": "none", "attStmt": {}, "authData": data}
        return self._answer(asked, "webauthn.create", {"attestationObject": cbor2.dumps(made)}, wrong)

    def sign(self, request: str, **wrong: Any) -> str:
        """The answer to `navigator.credentials.get`."""
        asked = json.loads(request)
        data = self._data(asked["rpId"], 0, wrong)
        client = self._client(asked, "webauthn.get", wrong)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(asked, "webauthn.get", {"authenticatorData": data, "signature": signature}, wrong)

    def _data(self, site: str, more: int, wrong: dict[str, Any]) -> bytes:
        flags = wrong.get("flags", self.flags) | more
        count = wrong.get("count", self.count or 0)
        self.count = self.count + 1 if self.count is not None else None
        return hashlib.sha256(wrong.get("site", site).encode()).digest() + bytes([flags]) + count.to_bytes(4)

    def _client(self, asked: dict[str, Any], kind: str, wrong: dict[str, Any]) -> bytes:
        said = {"type": kind, "challenge": asked["challenge"], "origin": self.origin}
        return json.dumps({**said, **{name: wrong[name] for name in said if name in wrong}}).encode()

    def _answer(self, asked: dict[str, Any], kind: str, parts: dict[str, bytes], wrong: dict[str, Any]) -> str:
        credential_id = in_base64(wrong.get("credential_id", self.credential_id))
        parts = {**parts, "clientDataJSON": self._client(asked, kind, wrong), **wrong.get("parts", {})}
        response = {name: in_base64(value) for name, value in parts.items()}
        return json.dumps({"id": credential_id, "rawId": credential_id, "type": "public-key", "response": response})


def in_base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
