"""Open problems are counted by kind, and the most harmful found, from an index alone;
so are their departments and terminals."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_problem_harm"
down_revision = "2026_11_25_webhook_subjects"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "problems_harm",
        "problems",
        ["kind", sa.text("held_punches DESC"), "since", "id"],
        postgresql_include=["severity", "held_people", "snoozed_until"],
        postgresql_where=sa.text("closed_at IS NULL"),
        postgresql_concurrently=True,
    )
    op.create_index(
        "problems_snoozed",
        "problems",
        ["kind", "snoozed_until"],
        postgresql_where=sa.text("closed_at IS NULL AND snoozed_until IS NOT NULL"),
        postgresql_concurrently=True,
    )
    for name in ("department", "terminal"):
        op.create_index(
            f"problems_{name}",
            "problems",
            [sa.text(f"(facts ->> '{name}')"), "kind"],
            postgresql_where=sa.text("closed_at IS NULL"),
            postgresql_concurrently=True,
        )
