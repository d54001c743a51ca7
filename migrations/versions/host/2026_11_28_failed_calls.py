"""Failed calls to webhooks, and events of a type that is rare, are found among very many by an index."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_failed_calls"
down_revision = "2026_11_28_sweep_times"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "webhook_attempts_failed",
        "webhook_attempts",
        ["id"],
        postgresql_where=sa.text("NOT delivered"),
        postgresql_concurrently=True,
    )
    op.create_index("webhook_events_type", "webhook_events", ["type", "id"], postgresql_concurrently=True)
