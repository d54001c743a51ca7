"""Surveys that repeat, their rounds, and who is invited or reminded: none of it, in every survey that is there."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_rounds"
down_revision = "2026_11_25_anonymous"


def upgrade() -> None:
    op.add_column("surveys", sa.Column("repeat", postgresql.JSONB(), nullable=True))
    op.add_column("surveys", sa.Column("remind_days", sa.SmallInteger(), nullable=True))
    op.add_column("surveys", sa.Column("rounds_after", sa.Date(), nullable=True))
    op.add_column("surveys", sa.Column("rounds_from", sa.BigInteger(), nullable=True))
    op.add_column("surveys", sa.Column("reminded", sa.SmallInteger(), server_default="0", nullable=False))
    op.create_index(
        "surveys_rounds", "surveys", ["id"], unique=False, postgresql_where=sa.text("rounds_after IS NOT NULL")
    )
    op.create_table(
        "survey_rounds",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_out", sa.Text(), nullable=True),
        sa.CheckConstraint("(version IS NULL) = (left_out IS NOT NULL)", name=op.f("survey_rounds_left_out_check")),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("survey_rounds_survey_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("survey_rounds_pkey")),
        sa.UniqueConstraint("survey_id", "version", name=op.f("survey_rounds_survey_id_version_key")),
    )
    op.create_table(
        "survey_invitations",
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("turn", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("dropped_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("turn BETWEEN 0 AND 2", name=op.f("survey_invitations_turn_check")),
        sa.CheckConstraint("num_nonnulls(sent_at, dropped_at) < 2", name=op.f("survey_invitations_ended_check")),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("survey_invitations_survey_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("survey_id", "version", "user_id", "turn", name=op.f("survey_invitations_pkey")),
    )
    op.create_index(
        "survey_invitations_waiting",
        "survey_invitations",
        ["due_at"],
        unique=False,
        postgresql_where=sa.text("sent_at IS NULL AND dropped_at IS NULL"),
    )
