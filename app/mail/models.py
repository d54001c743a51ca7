"""`shared.outgoing_mails`: the outbox. `shared.mail_refusals`: mails that a person has ended."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id

_WAITS = text("status = 'waiting'")


class OutgoingMail(Base):
    """One mail on its way. `kind` names who writes it (app.mail.kinds); `facts` is what the writer needs, sealed JSON
    that is removed once the mail has ended. `message_key` is a UUID:
    the Message-ID of every attempt, and what the facts are bound to.

    `to_hash` and `asked_by` are keyed hashes of the address and of the IP address of a person who asked without signing
    in: they limit how often one may ask. `urgent`: a person waits for it, so it leaves before the others. `thread` is
    the `message_key` that this mail replies to.
    `status`: dropped means that nothing was left to say when its turn came.
    """

    __tablename__ = "outgoing_mails"
    __table_args__ = (
        CheckConstraint("status IN ('waiting', 'sent', 'dropped', 'failed')", name="status"),
        Index("outgoing_mails_due", "workspace", text("urgent DESC"), "due_at", "id", postgresql_where=_WAITS),
        Index("outgoing_mails_to", "to_hash", "created_at", postgresql_where=text("to_hash IS NOT NULL")),
        Index("outgoing_mails_asked", "asked_by", "created_at", postgresql_where=text("asked_by IS NOT NULL")),
        Index("outgoing_mails_ended", "ended_at", postgresql_where=text("ended_at IS NOT NULL")),
        Index("outgoing_mails_user", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    )

    id: Mapped[Id]
    workspace: Mapped[str]
    kind: Mapped[str]
    message_key: Mapped[str] = mapped_column(unique=True)
    thread: Mapped[str | None]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    to_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    asked_by: Mapped[bytes | None] = mapped_column(LargeBinary)
    facts: Mapped[str | None]
    urgent: Mapped[bool] = mapped_column(server_default=text("false"))
    status: Mapped[str] = mapped_column(server_default="waiting")
    attempts: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[Created]
    due_at: Mapped[Created]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    error: Mapped[str | None]


class MailRefusal(Base):
    """The person gets no mails of `topic` (app.mail.unsubscribing)."""

    __tablename__ = "mail_refusals"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    topic: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[Created]


class MailStreak(Base):
    """One row, once a mail could not be sent: how many attempts failed in a row, over all workspaces, and what the last
    one met. `told` is true while that is a problem (app.mail.streak)."""

    __tablename__ = "mail_streak"
    __table_args__ = (CheckConstraint("id = 1", name="one"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, server_default="1")
    failures: Mapped[int]
    since: Mapped[datetime]
    error: Mapped[str]
    told: Mapped[bool] = mapped_column(server_default=text("false"))
