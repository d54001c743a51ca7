"""Webhooks: endpoints, what changed until it becomes events, events on their way, and the attempts to send them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_webhooks"
down_revision = "2026_11_25_problems"


def upgrade() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("uid", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("types", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("secret_before", sa.Text(), nullable=True),
        sa.Column("before_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("off_reason", sa.Text(), nullable=True),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("webhook_endpoints_pkey")),
        sa.UniqueConstraint("uid", name=op.f("webhook_endpoints_uid_key")),
    )
    op.create_table(
        "webhook_facts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("ids", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("webhook_facts_pkey")),
    )
    op.create_index(op.f("webhook_facts_due_at_id_idx"), "webhook_facts", ["due_at", "id"], unique=False)
    op.create_table(
        "webhook_events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("endpoint_id", sa.BigInteger(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("ids", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("asked", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('waiting', 'delivered', 'replaced', 'failed')", name=op.f("webhook_events_status_check")
        ),
        sa.ForeignKeyConstraint(
            ["endpoint_id"], ["webhook_endpoints.id"], name=op.f("webhook_events_endpoint_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("webhook_events_pkey")),
        sa.UniqueConstraint("message_id", name=op.f("webhook_events_message_id_key")),
    )
    op.create_index(
        "webhook_events_asked",
        "webhook_events",
        ["endpoint_id", "due_at"],
        unique=False,
        postgresql_where=sa.text("status = 'waiting' AND asked"),
    )
    op.create_index(
        "webhook_events_due",
        "webhook_events",
        ["endpoint_id", "due_at", "id"],
        unique=False,
        postgresql_where=sa.text("status = 'waiting'"),
    )
    op.create_index(
        "webhook_events_ended",
        "webhook_events",
        ["ended_at"],
        unique=False,
        postgresql_where=sa.text("ended_at IS NOT NULL"),
    )
    op.create_index(op.f("webhook_events_endpoint_id_id_idx"), "webhook_events", ["endpoint_id", "id"], unique=False)
    op.create_index(
        "webhook_events_subjects",
        "webhook_events",
        ["ids"],
        unique=False,
        postgresql_using="gin",
        postgresql_where=sa.text("status = 'waiting'"),
    )
    op.create_index(
        "webhook_events_tried",
        "webhook_events",
        ["endpoint_id", "attempts", "id"],
        unique=False,
        postgresql_where=sa.text("status = 'waiting'"),
    )
    op.create_table(
        "webhook_attempts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("endpoint_id", sa.BigInteger(), nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("delivered", sa.Boolean(), nullable=False),
        sa.Column("http_status", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("sent", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoints.id"],
            name=op.f("webhook_attempts_endpoint_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["event_id"], ["webhook_events.id"], name=op.f("webhook_attempts_event_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("webhook_attempts_pkey")),
    )
    op.create_index(
        op.f("webhook_attempts_endpoint_id_id_idx"), "webhook_attempts", ["endpoint_id", "id"], unique=False
    )
    op.create_index(op.f("webhook_attempts_event_id_idx"), "webhook_attempts", ["event_id"], unique=False)
