"""Indexes find closed problems in their order, the live records of a person, and events by how their id begins."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_flat_lists"
down_revision = "2026_11_28_marks_of_facts"
CONCURRENT = True


def upgrade() -> None:
    op.create_index(
        "problems_closed_order",
        "problems",
        [sa.text("closed_at DESC NULLS LAST"), sa.text("id DESC")],
        postgresql_where=sa.text("closed_at IS NOT NULL"),
        postgresql_concurrently=True,
    )
    op.drop_index("problems_closed", "problems", postgresql_concurrently=True)
    op.create_index(
        "attendance_records_person",
        "attendance_records",
        ["employee_id", "workday", "id"],
        postgresql_where=sa.text("deleted_at IS NULL"),
        postgresql_concurrently=True,
    )
    op.create_index(
        "webhook_events_message",
        "webhook_events",
        ["message_id"],
        postgresql_ops={"message_id": "text_pattern_ops"},
        postgresql_concurrently=True,
    )
