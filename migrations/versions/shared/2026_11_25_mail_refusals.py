"""Which mails a person wants no more."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_mail_refusals"
down_revision = "2026_11_25_outgoing_mails"


def upgrade() -> None:
    op.create_table(
        "mail_refusals",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("mail_refusals_user_id_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "topic", name=op.f("mail_refusals_pkey")),
    )
