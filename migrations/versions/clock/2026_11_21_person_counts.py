"""Punches of each code by month, so that a search for many people need not count them all."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_person_counts"
down_revision = "2026_11_21_outcome_index"


def upgrade() -> None:
    op.create_table(
        "clock_person_counts",
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("emp_code", sa.Text(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("month", "emp_code", name=op.f("clock_person_counts_pkey")),
    )
    op.execute(
        "INSERT INTO clock_person_counts (month, emp_code, total)"
        " SELECT date_trunc('month', local_date)::date, emp_code, count(*) FROM clock_transactions GROUP BY 1, 2"
    )
