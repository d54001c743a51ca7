"""A ballot: what one person answered to an anonymous version, padded and sealed under the key of that version before it
reaches SQL.

Pure, except for the random keys and numbers.
"""

import base64
import secrets
from collections.abc import Iterable
from uuid import UUID

import msgspec

from app.secrets import KEY_BYTES, KeyRing, Place
from app.surveys.anonymous.joining import Ballot
from app.surveys.ledger.answers import Answered
from app.surveys.ledger.chain import LedgerAnswer

# In bytes. A ballot is padded to the smallest of these that holds it, so that its length reveals little; a longer one
# to a multiple of the last.
SIZES = (2 * 1024, 16 * 1024, 64 * 1024)
_RING = "ballot"


def ballot_of(answers: Iterable[Answered], group: str | None) -> Ballot:
    told = [
        LedgerAnswer(str(one.question), list(one.value) if isinstance(one.value, tuple) else one.value)
        for one in answers
    ]
    return Ballot(told, group)


def new_key(keys: KeyRing, workspace: str, survey_id: int) -> str:
    """A random key for the ballots of one version, sealed with the key ring."""
    fresh = base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
    return keys.seal(fresh, _place_of_key(workspace, survey_id))


def ring_of(keys: KeyRing, workspace: str, survey_id: int, sealed_key: str) -> KeyRing:
    """Seals and opens the ballots of a version. Raises SecretError when the key ring lost its key."""
    raw = keys.open(sealed_key, _place_of_key(workspace, survey_id)).reveal()
    return KeyRing({_RING: base64.b64decode(raw)})


def seal(ring: KeyRing, workspace: str, ballot_id: UUID, ballot: Ballot) -> str:
    return ring.seal(padded(msgspec.json.encode(ballot).decode()), _place(workspace, ballot_id))


def opened(ring: KeyRing, workspace: str, ballot_id: UUID, sealed: str) -> Ballot:
    """The content of a ballot. Raises SecretError when the ballot was changed, or put in the place of another."""
    return msgspec.json.decode(ring.open(sealed, _place(workspace, ballot_id)).reveal(), type=Ballot)


def padded(text: str) -> str:
    """JSON followed by blanks, up to one of SIZES in UTF-8."""
    length = len(text.encode())
    size = next((one for one in SIZES if length <= one), -(-length // SIZES[-1]) * SIZES[-1])
    return text + " " * (size - length)


def _place(workspace: str, ballot_id: UUID) -> Place:
    return Place("survey_ballots", "sealed", workspace, str(ballot_id))


def _place_of_key(workspace: str, survey_id: int) -> Place:
    """The place of the key is the survey, because the row has no id yet when the key is sealed (app.sealed says the
    same)."""
    return Place("survey_ballot_keys", "sealed_key", workspace, str(survey_id))
