"""How many punches of a code wait for an employee is kept with its weeks, and their sum beside them. The rollup counts
the weeks that there are, some at a time."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_waiting_counts"
down_revision = "2026_11_25_undecided_punches"

# Two weeks have the same codes: who counts the one waits for who counts the other.
_KEEP = """
CREATE FUNCTION clock_keep_waiting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('waiting counts ' || TG_TABLE_SCHEMA, 0));
    IF TG_OP = 'INSERT' THEN
        INSERT INTO clock_waiting_counts AS w (emp_code, punches)
        SELECT emp_code, sum(waiting) FROM changed WHERE waiting > 0 GROUP BY emp_code
        ON CONFLICT (emp_code) DO UPDATE SET punches = w.punches + excluded.punches;
    ELSE
        UPDATE clock_waiting_counts w SET punches = w.punches - c.waiting
        FROM (SELECT emp_code, sum(waiting) AS waiting FROM changed WHERE waiting > 0 GROUP BY emp_code) AS c
        WHERE w.emp_code = c.emp_code;
    END IF;
    RETURN NULL;
END $$
"""
_TRIGGER = """
CREATE TRIGGER keep_waiting_after_{word} AFTER {event} ON clock_person_counts REFERENCING {table} AS changed
FOR EACH STATEMENT EXECUTE FUNCTION clock_keep_waiting()
"""


def upgrade() -> None:
    op.add_column("clock_person_counts", sa.Column("waiting", sa.Integer(), nullable=True))
    op.create_table(
        "clock_waiting_counts",
        sa.Column("emp_code", sa.Text(), nullable=False),
        sa.Column("punches", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("emp_code", name=op.f("clock_waiting_counts_pkey")),
    )
    op.execute(_KEEP)
    for event, table in (("INSERT", "NEW TABLE"), ("DELETE", "OLD TABLE")):
        op.execute(_TRIGGER.format(word=event.lower(), event=event, table=table))
