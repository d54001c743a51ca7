"""The tables of webhooks in every workspace: endpoints, what changed, events on their way,
and the attempts to send them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id, Words

_WAITS = text("status = 'waiting'")


class WebhookEndpoint(Base):
    """An address that is told. `secret` is sealed and bound to `uid`; `secret_before` is the one that it replaced,
    valid until `before_until`. `failures` counts failures in a row, since `failing_since`. `off_reason` says why Muster
    switched it off; null when a person did. `made_by` stays empty: the audit says who added it, and names no erased
    person. An endpoint with `removed_at` is off and not shown; a job deletes its events, then the row."""

    __tablename__ = "webhook_endpoints"

    id: Mapped[Id]
    uid: Mapped[UUID] = mapped_column(unique=True, server_default=func.gen_random_uuid())
    url: Mapped[str]
    types: Mapped[Words]
    active: Mapped[bool] = mapped_column(server_default=text("true"))
    secret: Mapped[str]
    secret_before: Mapped[str | None]
    before_until: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(server_default="0")
    failing_since: Mapped[datetime | None]
    off_reason: Mapped[str | None]
    made_by: Mapped[str]
    created_at: Mapped[Created]
    updated_at: Mapped[Created]
    delivered_at: Mapped[datetime | None]
    removed_at: Mapped[datetime | None]


# All but those that were removed.
STANDS = WebhookEndpoint.removed_at.is_(None)


class WebhookFact(Base):
    """What one transaction changed, of one type, until it becomes events. `ids` is empty when there are more than an
    event names; `number` counts them. `cause` is the same for all that one run changed;
    more of it may come until `due_at`."""

    __tablename__ = "webhook_facts"
    __table_args__ = (Index(None, "due_at", "id"),)

    id: Mapped[Id]
    type: Mapped[str]
    ids: Mapped[Words]
    number: Mapped[int]
    cause: Mapped[str]
    at: Mapped[Created]
    due_at: Mapped[Created]


class WebhookEvent(Base):
    """One event for one endpoint. `message_id` is its `webhook-id`, kept over all attempts. `since` is set when it
    names no ids: then `number` things changed since that moment. `asked`: a person asked for it, so it is sent now,
    whatever its endpoint did before. A newer event of the same subjects takes them out of it:
    one without any is `replaced`. Only a test has `failed`."""

    __tablename__ = "webhook_events"
    __table_args__ = (
        CheckConstraint("status IN ('waiting', 'delivered', 'replaced', 'failed')", name="status"),
        Index("webhook_events_due", "endpoint_id", "due_at", "id", postgresql_where=_WAITS),
        Index("webhook_events_tried", "endpoint_id", "attempts", "id", postgresql_where=_WAITS),
        Index("webhook_events_asked", "endpoint_id", "due_at", postgresql_where=text("status = 'waiting' AND asked")),
        # Read at each change, so it keeps no list of late entries.
        Index(
            "webhook_events_about",
            "ids",
            postgresql_using="gin",
            postgresql_with={"fastupdate": "off"},
            postgresql_where=_WAITS,
        ),
        Index("webhook_events_ended", "ended_at", postgresql_where=text("ended_at IS NOT NULL")),
        Index(None, "endpoint_id", "id"),
        Index("webhook_events_type", "type", "id"),
        # By how the id begins.
        Index("webhook_events_message", "message_id", postgresql_ops={"message_id": "text_pattern_ops"}),
    )

    id: Mapped[Id]
    endpoint_id: Mapped[int] = mapped_column(ForeignKey("webhook_endpoints.id", ondelete="CASCADE"))
    message_id: Mapped[str] = mapped_column(unique=True)
    type: Mapped[str]
    ids: Mapped[Words]
    number: Mapped[int]
    since: Mapped[datetime | None]
    at: Mapped[Created]
    asked: Mapped[bool] = mapped_column(server_default=text("false"))
    status: Mapped[str] = mapped_column(server_default="waiting")
    attempts: Mapped[int] = mapped_column(server_default="0")
    due_at: Mapped[Created]
    ended_at: Mapped[datetime | None]


class WebhookAttempt(Base):
    """One call: the HTTP status, or a sentence that says why there is none. `sent` is the body that went out."""

    __tablename__ = "webhook_attempts"
    __table_args__ = (
        Index(None, "endpoint_id", "id"),
        Index(None, "event_id"),
        # The few that people look for.
        Index("webhook_attempts_failed", "id", postgresql_where=text("NOT delivered")),
    )

    id: Mapped[Id]
    endpoint_id: Mapped[int] = mapped_column(ForeignKey("webhook_endpoints.id", ondelete="CASCADE"))
    event_id: Mapped[int] = mapped_column(ForeignKey("webhook_events.id", ondelete="CASCADE"))
    attempt: Mapped[int]
    started_at: Mapped[Created]
    duration_ms: Mapped[int]
    delivered: Mapped[bool]
    http_status: Mapped[int | None]
    error: Mapped[str | None]
    sent: Mapped[str]
