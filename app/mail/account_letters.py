"""Letters about accounts: one-time links, forgotten passwords, and what changed in how a person signs in.
They can't be switched off."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import one_time_links
from app.accounts.models import Tenant, User
from app.accounts.one_time_links import LINK_LIFE, RESET_LIFE
from app.db.session import PLATFORM
from app.mail import outbox
from app.mail.kinds import MailInTurn, Writers
from app.mail.letters import Letter
from app.mail.models import OutgoingMail
from app.mail.outbox import NewMail
from app.mail.retry_pauses import TRIED_FOR
from app.parts import Parts
from app.wording.marked import marked, sentence, worded
from app.wording.speech import Speech, speech_for

LINK, RESET, NOTICE = "account.link", "account.reset", "account.notice"
# The most mails in an hour to one address, and from one IP address.
# Further ones are not sent, and the page does not say so.
MOST_FOR_ADDRESS, MOST_FROM_IP = 3, 20
_HOUR = timedelta(hours=1)
_IGNORE = marked("If you did not ask for this, do nothing: your password stays as it is.")
_NOT_YOU = marked(
    "If that was not you, ask for a new password on the sign-in page now, and tell an administrator of your portal."
)
# The changes that a person is told of, by the act in the audit.
NOTICES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "user.change_password": (
            marked("Your password was changed in Muster"),
            marked("The password of your account was changed."),
        ),
        "user.set_password": (
            marked("Your password was changed in Muster"),
            marked("A new password was set with a one-time link."),
        ),
        "user.enable_second_factor": (
            marked("Your second factor is on in Muster"),
            marked("Signing in to your account now asks for the six digits of an authenticator app."),
        ),
        "user.drop_second_factor": (
            marked("Your second factor is off in Muster"),
            marked("Signing in to your account asks for the password alone. Passkeys of the account were removed."),
        ),
        "user.add_passkey": (
            marked("A passkey was added in Muster"),
            marked("A new passkey can be used to sign in to your account."),
        ),
        "user.remove_passkey": (
            marked("A passkey was removed in Muster"),
            marked("A passkey of your account no longer works."),
        ),
        "user.make_recovery_codes": (
            marked("New recovery codes were made in Muster"),
            marked("Your account has new recovery codes. The codes from before no longer work."),
        ),
    }
)


async def send_link(parts: Parts, db: AsyncSession, user_id: int, secret: str) -> bool:
    """Mails the one-time link of an account to its owner. False when mail is off."""
    await outbox.drop_waiting(db, user_id, LINK)
    return await outbox.post(parts, db, NewMail(LINK, {"secret": secret}, user_id, lasts=LINK_LIFE, urgent=True))


async def send_reset(parts: Parts, db: AsyncSession, email: str, ip: str) -> None:
    """For a person who forgot the password. It does the same with and without such an account: the worker finds out."""
    for_address = OutgoingMail.to_hash == outbox.hashed(parts.keys, email)
    from_ip = OutgoingMail.asked_by == outbox.hashed(parts.keys, ip)
    if await outbox.asked_since(db, for_address, _HOUR) >= MOST_FOR_ADDRESS:
        return
    if await outbox.asked_since(db, from_ip, _HOUR) < MOST_FROM_IP:
        await outbox.post(
            parts, db, NewMail(RESET, {"email": email}, to=email, asked_by=ip, lasts=RESET_LIFE, urgent=True)
        )


async def tell_of(parts: Parts, db: AsyncSession, user_id: int, act: str) -> None:
    """Mails the owner of an account what changed in it. `act` is one of NOTICES."""
    await outbox.post(parts, db, NewMail(NOTICE, {"act": act}, user_id, urgent=True))


async def try_again(db: AsyncSession, workspace: str) -> None:
    """The waiting mails of a tenant that is active again are tried for a day from now. A mail with a one-time link ends
    when its link ends."""
    waiting = (OutgoingMail.workspace == workspace, OutgoingMail.status == "waiting")
    later = update(OutgoingMail).where(*waiting, OutgoingMail.kind.not_in((LINK, RESET)))
    await db.execute(later.values(expires_at=func.greatest(OutgoingMail.expires_at, func.now() + TRIED_FOR)))


async def write_link(parts: Parts, db: AsyncSession, mail: MailInTurn) -> Letter | None:
    """None once the link was used, or another one took its place."""
    secret = mail.facts["secret"]
    owner = await _active(db, await one_time_links.link_owner(db, secret))
    if owner is None:
        return None
    say = speech_of(owner)
    return Letter(
        owner.email,
        say(marked("Choose your password for Muster")),
        (
            say(worded("Hello {name},", name=owner.name)),
            say(
                worded(
                    "An administrator made an account for you in Muster, or a new link for it. You sign in with {email}.",
                    email=owner.email,
                )
            ),
            say(marked("Choose your password with this link. It works once.")),
        ),
        (say(marked("Choose your password")), f"{parts.settings.base_url}/welcome/{secret}"),
        (_until(say, mail.created_at + LINK_LIFE),),
        speech=say,
    )


async def write_reset(parts: Parts, db: AsyncSession, mail: MailInTurn) -> Letter | None:
    """None when no active account has the address. The first attempt makes the link, and further ones use it again."""
    owner = await _active(db, await _with_address(db, mail.facts["email"]))
    if owner is None:
        return None
    if "secret" not in mail.facts:
        mail.facts["secret"] = await one_time_links.make_reset_link(db, owner.id)
        mail.expires_at = datetime.now(UTC) + RESET_LIFE
    elif await one_time_links.link_owner(db, mail.facts["secret"]) != owner.id:
        return None
    say = speech_of(owner)
    return Letter(
        owner.email,
        say(marked("A new password for Muster")),
        (
            say(worded("Hello {name},", name=owner.name)),
            say(marked("A new password was asked for on the sign-in page. Choose it with this link. It works once.")),
        ),
        (say(marked("Choose a new password")), f"{parts.settings.base_url}/welcome/{mail.facts['secret']}"),
        (_until(say, mail.expires_at), say(_IGNORE)),
        speech=say,
    )


async def write_notice(parts: Parts, db: AsyncSession, mail: MailInTurn) -> Letter | None:
    owner = await _active(db, mail.user_id)
    if owner is None:
        return None
    say, (subject, happened) = speech_of(owner), NOTICES[mail.facts["act"]]
    told = worded("{happened} It was {time}.", happened=sentence(happened), time=say.in_utc(mail.created_at))
    return Letter(
        owner.email,
        say(subject),
        (say(worded("Hello {name},", name=owner.name)), say(told)),
        (say(marked("Open your account")), f"{parts.settings.base_url}/account"),
        (say(_NOT_YOU),),
        speech=say,
    )


def speech_of(owner: User) -> Speech:
    """The language of a letter: the person's choice, otherwise English.
    There is no browser here that says what they read."""
    return speech_for([owner.language] if owner.language else [])


def _until(say: Speech, at: datetime) -> str:
    return say(worded("The link works until {time}.", time=say.in_utc(at)))


async def _with_address(db: AsyncSession, email: str) -> int | None:
    return await db.scalar(select(User.id).where(User.email == email.strip().lower()))


async def _active(db: AsyncSession, user_id: int | None) -> User | None:
    """The account, if its owner may sign in."""
    there = (User.workspace == PLATFORM) | select(Tenant.active).where(Tenant.key == User.workspace).scalar_subquery()
    return await db.scalar(select(User).where(User.id == user_id, User.active, there))


LETTERS: Writers = MappingProxyType({LINK: write_link, RESET: write_reset, NOTICE: write_notice})
