"""Only the owner's function `note_ledger_head` writes the head of a ledger into the audit: the application's role can't
place a false note."""

from alembic import op

revision = "2026_11_23_ledger_notes"
down_revision = "2026_11_21_first_tables"

# Inside that function the current user is the owner.
# The path is fixed, or the caller could bring functions of their own.
GUARD = (
    """
    CREATE FUNCTION refuse_ledger_note() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
        IF current_user <> (SELECT relowner::regrole::name FROM pg_class WHERE oid = TG_RELID) THEN
            RAISE EXCEPTION 'only note_ledger_head() notes the head of a ledger' USING ERRCODE = 'insufficient_privilege';
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER ledger_notes BEFORE INSERT ON audit_entries FOR EACH ROW WHEN (NEW.act = 'ledger.head')
    EXECUTE FUNCTION refuse_ledger_note()
    """,
    "ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER ledger_notes",
)


def upgrade() -> None:
    for statement in GUARD:
        op.execute(statement)
