"""Which events that wait are about a subject is one look into an index:
it keeps no list of late entries, which each look would read."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_webhook_subjects"
down_revision = "2026_11_25_open_problems"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "webhook_events_about",
        "webhook_events",
        ["ids"],
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=sa.text("status = 'waiting'"),
        postgresql_concurrently=True,
    )
    op.drop_index("webhook_events_subjects", "webhook_events", postgresql_concurrently=True)
