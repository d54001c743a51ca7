"""Changes of what stands in the ledger: a second table whose rows take the next numbers of the same chain.

No row is touched. The daily note of the head finds the last row in either table.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import text

revision = "2026_11_25_changes"
down_revision = "2026_11_25_closing_words"

NOTE = """
CREATE OR REPLACE FUNCTION note_ledger_head() RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER
SET search_path = "{schema}", shared, pg_temp AS $$
DECLARE
    head record;
    noted jsonb;
BEGIN
    SELECT h.number, encode(h.row_hash, 'hex') AS row_hash, coalesce(
        (SELECT r.row_hash FROM survey_responses r WHERE r.number = h.number),
        (SELECT c.row_hash FROM survey_changes c WHERE c.number = h.number)
    ) = h.row_hash AS fits INTO STRICT head FROM survey_ledger_head h;
    IF head.number = 0 THEN
        RETURN NULL;
    END IF;
    IF head.fits IS NOT TRUE THEN
        RAISE EXCEPTION 'the head of the ledger is not the hash of its last row: run ledger:verify';
    END IF;
    noted := jsonb_build_object('number', head.number, 'head', head.row_hash);
    INSERT INTO audit_entries (workspace, actor_name, act, subject_type, subject_id, after)
    VALUES ('{workspace}', 'Muster', 'ledger.head', 'ledger', '{workspace}', noted);
    RETURN noted;
END $$
"""


def upgrade() -> None:
    op.create_table(
        "survey_changes",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("response_number", sa.BigInteger(), nullable=True),
        sa.Column("turn", sa.BigInteger(), nullable=True),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("key_id", sa.BigInteger(), nullable=True),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.Column("ballots", sa.BigInteger(), nullable=True),
        sa.Column("results", sa.Text(), nullable=True),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("row_hash", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("kind IN ('withdrawn', 'agreed_again', 'closed')", name=op.f("survey_changes_kind_check")),
        sa.CheckConstraint("source IN ('web', 'api', 'demo')", name=op.f("survey_changes_source_check")),
        sa.CheckConstraint(
            "turn > 0 AND (turn % 2 = 1) = (kind = 'withdrawn')", name=op.f("survey_changes_turn_check")
        ),
        sa.CheckConstraint(
            "CASE WHEN kind = 'closed' THEN num_nonnulls(response_number, turn, user_id, source, key_id, sealed) = 0"
            " AND num_nulls(ballots, results) = 0"
            " ELSE num_nulls(response_number, turn, user_id, source) = 0 AND num_nonnulls(ballots, results) = 0 END",
            name=op.f("survey_changes_shape_check"),
        ),
        sa.ForeignKeyConstraint(["key_id"], ["survey_person_keys.id"], name=op.f("survey_changes_key_id_fkey")),
        sa.ForeignKeyConstraint(
            ["response_number"], ["survey_responses.number"], name=op.f("survey_changes_response_number_fkey")
        ),
        sa.ForeignKeyConstraint(["survey_id"], ["surveys.id"], name=op.f("survey_changes_survey_id_fkey")),
        sa.PrimaryKeyConstraint("number", name=op.f("survey_changes_pkey")),
        sa.UniqueConstraint("response_number", "turn", name=op.f("survey_changes_response_number_turn_key")),
        sa.UniqueConstraint("row_hash", name=op.f("survey_changes_row_hash_key")),
        info={"append_only": True},
    )
    op.create_index(
        "survey_changes_closed",
        "survey_changes",
        ["survey_id", "version"],
        unique=True,
        postgresql_where=sa.text("kind = 'closed'"),
    )
    op.create_index(op.f("survey_changes_user_id_number_idx"), "survey_changes", ["user_id", "number"], unique=False)
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON survey_changes EXECUTE FUNCTION survey_ledger_stays()"
    )
    op.execute("ALTER TABLE survey_changes ENABLE ALWAYS TRIGGER append_only")
    schema = op.get_bind().scalar(text("SELECT current_schema()"))
    op.execute(NOTE.format(schema=schema, workspace=schema.removeprefix("tenant_")))
