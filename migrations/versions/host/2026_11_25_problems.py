"""Problems: what a person should do, with their history, and which kinds were ever looked for."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "2026_11_25_problems"
down_revision = "2026_11_25_followed_attendance"
NOW = sa.text("now()")


def instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), server_default=None if nullable else NOW, nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "problems",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject_type", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("held_punches", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("held_people", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("evidence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        instant("opened_at"),
        instant("last_seen_at"),
        instant("updated_at"),
        instant("closed_at", nullable=True),
        sa.Column("closed_by", sa.Text(), nullable=True),
        sa.Column("stands", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        instant("snoozed_until", nullable=True),
        sa.Column("assigned_to", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("severity IN ('critical', 'warning', 'info')", name=op.f("problems_severity_check")),
        sa.CheckConstraint("closed_by IN ('itself', 'person')", name=op.f("problems_closed_by_check")),
        sa.CheckConstraint("(closed_at IS NULL) = (closed_by IS NULL)", name=op.f("problems_closed_check")),
        sa.CheckConstraint("stands OR closed_at IS NOT NULL", name=op.f("problems_stands_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("problems_pkey")),
    )
    indexes: tuple[tuple[str, list[str], str | None], ...] = (
        ("problems_open", ["kind", "id"], "closed_at IS NULL"),
        ("problems_assigned", ["assigned_to", "id"], "assigned_to IS NOT NULL"),
        ("problems_closed", ["closed_at"], "closed_at IS NOT NULL"),
        ("problems_changed", ["updated_at", "id"], None),
    )
    for name, columns, condition in indexes:
        op.create_index(name, "problems", columns, postgresql_where=sa.text(condition) if condition else None)
    op.create_index(
        "problems_stand",
        "problems",
        ["kind", "subject_type", "subject_id"],
        unique=True,
        postgresql_where=sa.text("stands"),
    )
    op.create_table(
        "problem_changes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("problem_id", sa.BigInteger(), nullable=False),
        instant("at"),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            "what IN ('opened', 'changed', 'closed', 'opened_again', 'assigned', 'snoozed', 'dismissed', 'remedy')",
            name=op.f("problem_changes_what_check"),
        ),
        sa.ForeignKeyConstraint(
            ["problem_id"], ["problems.id"], name=op.f("problem_changes_problem_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("problem_changes_pkey")),
    )
    op.create_index(op.f("problem_changes_problem_id_id_idx"), "problem_changes", ["problem_id", "id"])
    op.create_table(
        "problem_sweeps",
        sa.Column("id", sa.BigInteger(), server_default="1", autoincrement=False, nullable=False),
        sa.Column("kinds", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        instant("tidied_at"),
        sa.CheckConstraint("id = 1", name=op.f("problem_sweeps_one_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("problem_sweeps_pkey")),
    )
