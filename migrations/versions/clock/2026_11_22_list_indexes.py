"""The punches of people are counted from an index alone, whatever else narrows them;
breaks and overtime have one of their own."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_list_indexes"
down_revision = "2026_11_21_person_counts"

TABLE = "clock_transactions"


def upgrade() -> None:
    op.drop_index(op.f("clock_transactions_emp_code_punched_at_utc_id_idx"), table_name=TABLE)
    op.create_index(
        "clock_transactions_person",
        TABLE,
        ["emp_code", "punched_at_utc", "id"],
        unique=False,
        postgresql_include=["local_date", "import_outcome", "terminal_sn", "punch_code"],
    )
    op.drop_index("clock_transactions_outcome", table_name=TABLE)
    op.create_index(
        "clock_transactions_outcome",
        TABLE,
        ["import_outcome", "local_date", "punched_at_utc", "id"],
        unique=False,
        postgresql_include=["emp_code"],
        postgresql_where=sa.text("import_outcome IS NOT NULL"),
    )
    op.create_index(
        "clock_transactions_seldom",
        TABLE,
        ["punch_code", "local_date", "punched_at_utc", "id"],
        unique=False,
        postgresql_where=sa.text("punch_code BETWEEN 2 AND 5"),
    )
