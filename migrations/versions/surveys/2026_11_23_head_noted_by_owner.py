"""The daily note of the ledger's head is written by a function that reads the head itself,
with the rights of the tables' owner."""

from alembic import op
from sqlalchemy import text

revision = "2026_11_23_head_noted_by_owner"
down_revision = "2026_11_21_first_tables"

# The application may move the head: so the head counts only where the last row has its hash.
NOTE = """
CREATE FUNCTION note_ledger_head() RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = "{schema}", shared, pg_temp AS $$
DECLARE
    head record;
    noted jsonb;
BEGIN
    SELECT h.number, encode(h.row_hash, 'hex') AS row_hash, r.row_hash = h.row_hash AS fits INTO STRICT head
    FROM survey_ledger_head h LEFT JOIN survey_responses r USING (number);
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
    schema = op.get_bind().scalar(text("SELECT current_schema()"))
    op.execute(NOTE.format(schema=schema, workspace=schema.removeprefix("tenant_")))
