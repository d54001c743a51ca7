"""A stale day says if only outcomes of its punches changed: then its other figures stay as they were counted."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_outcomes_only"
down_revision = "2026_11_28_waiting_indexes"

# A full mark wins over the other kind, also one of a version that knows of no kinds and does nothing where the day
# is noted already. The INSERT here waits for another transaction that is noting the day. Without it, the row of that
# one would not be seen.
_WIN = """
CREATE FUNCTION clock_full_mark_wins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO clock_stale_days (local_date, outcomes_only) VALUES (NEW.local_date, true) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        DELETE FROM clock_stale_days WHERE local_date = NEW.local_date;
    ELSE
        UPDATE clock_stale_days SET outcomes_only = false WHERE local_date = NEW.local_date AND outcomes_only;
    END IF;
    RETURN NEW;
END $$
"""
_TRIGGER = """
CREATE TRIGGER full_mark_wins BEFORE INSERT ON clock_stale_days
FOR EACH ROW WHEN (NOT NEW.outcomes_only) EXECUTE FUNCTION clock_full_mark_wins()
"""


def upgrade() -> None:
    op.add_column(
        "clock_stale_days", sa.Column("outcomes_only", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.execute(_WIN)
    op.execute(_TRIGGER)
