"""What a browser is asked when a passkey is made or used, and if its answer is right: WebAuthn, by py_webauthn. It
reads no rows.

The library is loaded at its first use: loading takes a tenth of a second, and few processes need it.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from app.accounts.passkey_site import PasskeySite

if TYPE_CHECKING:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

PORTAL = "Muster"


class WrongAnswer(Exception):
    """The answer of the browser is malformed, or it proves nothing."""


@dataclass(frozen=True, slots=True)
class KnownKey:
    """What a browser needs to find a passkey again. `transports` are the ways to reach it: internal, usb, hybrid …"""

    credential_id: bytes
    transports: Sequence[str]


@dataclass(frozen=True, slots=True)
class NewKey:
    """`public_key` is in COSE; `sign_count` is the authenticator's own count, 0 if it does not count."""

    credential_id: bytes
    public_key: bytes
    sign_count: int
    transports: list[str]


class _SentKeyData(msgspec.Struct):
    clientDataJSON: str  # noqa: N815 - WebAuthn's name


class _SentKey(msgspec.Struct):
    id: str
    response: _SentKeyData


class _ClientData(msgspec.Struct):
    challenge: str


def ask_to_make(
    site: PasskeySite,
    challenge: bytes,
    *,
    user_id: int,
    email: str,
    name: str,
    known: Sequence[KnownKey],
    timeout_s: int,
) -> str:
    """JSON for `navigator.credentials.create`. A device that holds one of the `known` passkeys makes no second one."""
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = generate_registration_options(
        rp_id=site.name,
        rp_name=PORTAL,
        user_id=str(user_id).encode(),
        user_name=email,
        user_display_name=name,
        challenge=challenge,
        timeout=timeout_s * 1000,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.PREFERRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
        exclude_credentials=_descriptors(known),
    )
    asked: str = options_to_json(options)
    return asked


def ask_to_sign(site: PasskeySite, challenge: bytes, *, known: Sequence[KnownKey], timeout_s: int) -> str:
    """JSON for `navigator.credentials.get`, about the `known` passkeys alone."""
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers.structs import UserVerificationRequirement

    options = generate_authentication_options(
        rp_id=site.name,
        challenge=challenge,
        timeout=timeout_s * 1000,
        allow_credentials=_descriptors(known),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    asked: str = options_to_json(options)
    return asked


def challenge_in(answer: str) -> bytes:
    """The challenge that the answer belongs to, before anything else in it is used. Raises WrongAnswer."""
    data = _read(answer).response.clientDataJSON
    try:
        return _bytes(msgspec.json.decode(_bytes(data), type=_ClientData).challenge)
    except (msgspec.DecodeError, UnicodeError):
        raise WrongAnswer from None


def credential_in(answer: str) -> bytes:
    """The id of the passkey that the answer names. Raises WrongAnswer."""
    return _bytes(_read(answer).id)


def new_key(site: PasskeySite, challenge: bytes, answer: str) -> NewKey:
    """Raises WrongAnswer unless a page of this site asked with this challenge, and the device verified its user."""
    from webauthn import verify_registration_response
    from webauthn.helpers import parse_registration_credential_json

    try:
        sent = parse_registration_credential_json(answer)
        made = verify_registration_response(
            credential=sent,
            expected_challenge=challenge,
            expected_rp_id=site.name,
            expected_origin=site.origin,
            require_user_verification=True,
        )
    except Exception as wrong:  # a stranger's bytes go through CBOR, ASN.1 and X.509: each fails in its own way
        raise WrongAnswer from wrong
    transports = [one.value for one in sent.response.transports or []]
    return NewKey(made.credential_id, made.credential_public_key, made.sign_count, transports)


def sign_count_in(site: PasskeySite, challenge: bytes, public_key: bytes, answer: str) -> int:
    """Raises WrongAnswer unless the key signed this challenge for this site, and the device verified its user.

    `goes_up` says if the count went up.
    """
    from webauthn import verify_authentication_response

    try:
        signed = verify_authentication_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=site.name,
            expected_origin=site.origin,
            credential_public_key=public_key,
            credential_current_sign_count=0,
            require_user_verification=True,
        )
    except Exception as wrong:  # as above
        raise WrongAnswer from wrong
    count: int = signed.new_sign_count
    return count


def goes_up(before: int, now: int) -> bool:
    """False when the count shows that a second device has the same key. A device that does not count always sends 0."""
    return now > before or now == before == 0


def _descriptors(known: Sequence[KnownKey]) -> "list[PublicKeyCredentialDescriptor]":
    from webauthn.helpers.structs import AuthenticatorTransport, PublicKeyCredentialDescriptor

    return [
        PublicKeyCredentialDescriptor(
            id=one.credential_id, transports=[AuthenticatorTransport(way) for way in one.transports]
        )
        for one in known
    ]


def _read(answer: str) -> _SentKey:
    try:
        return msgspec.json.decode(answer, type=_SentKey)
    except (msgspec.DecodeError, UnicodeError):
        raise WrongAnswer from None


def _bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(f"{text}===")
    except (binascii.Error, ValueError):
        raise WrongAnswer from None
