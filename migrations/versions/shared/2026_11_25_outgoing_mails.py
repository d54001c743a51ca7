"""The outbox: mails that wait for a worker to send them."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_outgoing_mails"
down_revision = "2026_11_25_rare_acts"


def upgrade() -> None:
    op.create_table(
        "outgoing_mails",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("message_key", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column("to_hash", sa.LargeBinary(), nullable=True),
        sa.Column("asked_by", sa.LargeBinary(), nullable=True),
        sa.Column("facts", sa.Text(), nullable=True),
        sa.Column("urgent", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "status IN ('waiting', 'sent', 'dropped', 'failed')", name=op.f("outgoing_mails_status_check")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("outgoing_mails_user_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("outgoing_mails_pkey")),
        sa.UniqueConstraint("message_key", name=op.f("outgoing_mails_message_key_key")),
    )
    for name, columns, condition in (
        ("due", ["workspace", sa.text("urgent DESC"), "due_at", "id"], "status = 'waiting'"),
        ("to", ["to_hash", "created_at"], "to_hash IS NOT NULL"),
        ("asked", ["asked_by", "created_at"], "asked_by IS NOT NULL"),
        ("ended", ["ended_at"], "ended_at IS NOT NULL"),
        ("user", ["user_id"], "user_id IS NOT NULL"),
    ):
        op.create_index(f"outgoing_mails_{name}", "outgoing_mails", columns, postgresql_where=sa.text(condition))
