"""Punches of each code by week instead of by month, by code first:
a quarter of the punches is counted for a page, and again."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_weeks_of_people"
down_revision = "2026_11_22_list_indexes"

TABLE = "clock_person_counts"


def upgrade() -> None:
    op.drop_table(TABLE)
    op.create_table(
        TABLE,
        sa.Column("emp_code", sa.Text(), nullable=False),
        sa.Column("week", sa.Date(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("emp_code", "week", name=op.f("clock_person_counts_pkey")),
    )
    op.create_index(op.f("clock_person_counts_week_idx"), TABLE, ["week"], unique=False)
    op.execute(
        f"INSERT INTO {TABLE} (week, emp_code, total)"
        " SELECT date_trunc('week', local_date)::date, emp_code, count(*) FROM clock_transactions GROUP BY 1, 2"
    )
