"""Which account stands behind each person number of the ledger: at first the one with the same number.

No row of the ledger is touched. The triggers note the number of everybody who answers for the first time, also where
the version before still runs while this one migrates: it knows no person numbers, and writes the id of the account.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import text

revision = "2026_11_24_people"
down_revision = "2026_11_23_unnoted_versions"

LEDGER = ("survey_responses", "survey_person_keys")
KNOWN = """
INSERT INTO survey_people (number, user_id)
SELECT DISTINCT user_id, user_id FROM (
    SELECT user_id FROM survey_responses WHERE number > :after UNION SELECT user_id FROM survey_person_keys
) AS named ON CONFLICT DO NOTHING
"""
NOTE = """
CREATE FUNCTION survey_person_known() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "{schema}".survey_people (number, user_id) VALUES (NEW.user_id, NEW.user_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""


def upgrade() -> None:
    op.create_table(
        "survey_people",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("survey_people_pkey")),
        sa.UniqueConstraint("user_id", name=op.f("survey_people_user_id_key")),
        info={"append_only": True},
    )
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON survey_people EXECUTE FUNCTION survey_ledger_stays()"
    )
    op.execute("ALTER TABLE survey_people ENABLE ALWAYS TRIGGER append_only")
    _note_those_who_answered()


def _note_those_who_answered() -> None:
    """The long reading first: from the triggers on, the ledger takes no answer until the end of the transaction."""
    connection = op.get_bind()
    last = connection.scalar(text("SELECT coalesce(max(number), 0) FROM survey_responses"))
    connection.execute(text(KNOWN), {"after": 0})
    op.execute(NOTE.format(schema=connection.scalar(text("SELECT current_schema()"))))
    for table in LEDGER:
        op.execute(
            f"CREATE TRIGGER person_known AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION survey_person_known()"
        )
    connection.execute(text(KNOWN), {"after": last})
