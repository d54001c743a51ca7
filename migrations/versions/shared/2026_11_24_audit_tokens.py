"""By which API token a person acted, in the audit. For existing entries it is not known. Indexes: for what one person
did, for the erasures, which every page of the audit asks for, and for the newest entry about a subject."""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_audit_tokens"
down_revision = "2026_11_23_recovery_codes"


def upgrade() -> None:
    op.add_column("audit_entries", sa.Column("actor_token", sa.Text(), nullable=True))
    op.create_index("audit_entries_workspace_actor_id_idx", "audit_entries", ["workspace", "actor_id"])
    op.create_index(
        "audit_entries_erasures", "audit_entries", ["subject_id"], postgresql_where=sa.text("act = 'person.erase'")
    )
    about = ["workspace", "subject_type", "subject_id"]
    op.create_index("audit_entries_workspace_subject_type_subject_id_id_idx", "audit_entries", [*about, "id"])
    op.drop_index("audit_entries_workspace_subject_type_subject_id_idx", "audit_entries")
