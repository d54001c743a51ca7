"""Which problems a person is told of by mail, and when."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_alert_settings"
down_revision = "2026_11_25_mail_refusals"
SEVERITIES = ("critical", "warning", "info")


def upgrade() -> None:
    op.create_table(
        "alert_settings",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("critical", sa.Text(), nullable=False),
        sa.Column("critical_after", sa.BigInteger(), nullable=False),
        sa.Column("warning", sa.Text(), nullable=False),
        sa.Column("warning_after", sa.BigInteger(), nullable=False),
        sa.Column("info", sa.Text(), nullable=False),
        sa.Column("info_after", sa.BigInteger(), nullable=False),
        sa.Column("kinds", postgresql.JSONB(), server_default="{}", nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("digest_weekday", sa.BigInteger(), nullable=False),
        sa.Column("digest_hour", sa.BigInteger(), nullable=False),
        sa.Column("quiet_from", sa.Time(), nullable=True),
        sa.Column("quiet_to", sa.Time(), nullable=True),
        sa.Column("quiet_but_critical", sa.Boolean(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        *(
            sa.CheckConstraint(f"{name} IN ('never', 'at_once', 'digest')", name=op.f(f"alert_settings_{name}_check"))
            for name in SEVERITIES
        ),
        *(
            sa.CheckConstraint(f"{name}_after BETWEEN 0 AND 1440", name=op.f(f"alert_settings_{name}_after_check"))
            for name in SEVERITIES
        ),
        sa.CheckConstraint("digest IN ('daily', 'weekly')", name=op.f("alert_settings_digest_check")),
        sa.CheckConstraint(
            "digest_weekday BETWEEN 0 AND 6 AND digest_hour BETWEEN 0 AND 23",
            name=op.f("alert_settings_digest_at_check"),
        ),
        sa.CheckConstraint("(quiet_from IS NULL) = (quiet_to IS NULL)", name=op.f("alert_settings_quiet_check")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("alert_settings_user_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("alert_settings_pkey")),
    )
