"""What changed since an instant is found by an index: responses, what became of them, what was removed,
and who was erased."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_25_followed_responses"
down_revision = "2026_11_25_stored_at"
CONCURRENT = True


def upgrade() -> None:
    for table, at, number in (
        ("survey_responses", "stored_at", "number"),
        ("survey_changes", "stored_at", "response_number"),
        ("survey_tombstones", "removed_at", "number"),
    ):
        op.create_index(op.f(f"{table}_{at}_{number}_idx"), table, [at, number], postgresql_concurrently=True)
    op.create_index(
        "survey_person_keys_erased",
        "survey_person_keys",
        ["erased_at"],
        postgresql_where=sa.text("erased_at IS NOT NULL"),
        postgresql_concurrently=True,
    )
