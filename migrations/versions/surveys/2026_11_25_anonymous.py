"""Anonymous surveys: whether a survey is one, and by which group it is split; sealed ballots with their keys;
results of closed versions.

A trigger keeps answers to an anonymous survey out of the ledger, also where the version before, which knows none,
still runs meanwhile.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import text

revision = "2026_11_25_anonymous"
down_revision = "2026_11_25_languages"

REFUSE = """
CREATE FUNCTION survey_answers_stay_apart() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM "{schema}".surveys WHERE id = NEW.survey_id AND anonymity = 'anonymous') THEN
        RAISE EXCEPTION 'answers to an anonymous survey never stand in the ledger: restart every process with this version of Muster';
    END IF;
    RETURN NEW;
END $$
"""
TRIGGER = """
CREATE TRIGGER answers_stay_apart BEFORE INSERT ON survey_responses FOR EACH ROW
WHEN (NEW.has_text OR NEW.entry NOT LIKE '{"answers":[],%') EXECUTE FUNCTION survey_answers_stay_apart()
"""


def upgrade() -> None:
    op.add_column("surveys", sa.Column("anonymity", sa.Text(), server_default="named", nullable=False))
    op.add_column("surveys", sa.Column("split", sa.Text(), nullable=True))
    op.create_check_constraint(op.f("surveys_anonymity_check"), "surveys", "anonymity IN ('named', 'anonymous')")
    op.create_check_constraint(
        op.f("surveys_split_check"),
        "surveys",
        "split IS NULL OR (anonymity = 'anonymous' AND split IN ('type', 'tenant', 'department'))",
    )
    _ballots()
    _results()
    op.execute(REFUSE.format(schema=op.get_bind().scalar(text("SELECT current_schema()"))))
    op.execute(TRIGGER)


def _ballots() -> None:
    op.create_table(
        "survey_ballot_keys",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("sealed_key", sa.Text(), nullable=True),
        sa.Column("destroyed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(sealed_key IS NULL) = (destroyed_at IS NOT NULL)", name=op.f("survey_ballot_keys_destroyed_check")
        ),
        sa.ForeignKeyConstraint(["survey_id"], ["surveys.id"], name=op.f("survey_ballot_keys_survey_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("survey_ballot_keys_pkey")),
        sa.UniqueConstraint("survey_id", "version", name=op.f("survey_ballot_keys_survey_id_version_key")),
    )
    op.create_table(
        "survey_ballots",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["survey_id"], ["surveys.id"], name=op.f("survey_ballots_survey_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("survey_ballots_pkey")),
    )
    op.create_index(op.f("survey_ballots_survey_id_version_idx"), "survey_ballots", ["survey_id", "version"])


def _results() -> None:
    op.create_table(
        "survey_results",
        sa.Column("id", sa.UUID(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("survey_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("question_key", sa.UUID(), nullable=False),
        sa.Column("grouped", sa.Text(), nullable=True),
        sa.Column("joined", sa.Boolean(), nullable=False),
        sa.Column("choice", sa.Text(), nullable=False),
        sa.Column("people", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["survey_id"], ["surveys.id"], name=op.f("survey_results_survey_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("survey_results_pkey")),
        info={"append_only": True},
    )
    op.create_index(op.f("survey_results_survey_id_version_idx"), "survey_results", ["survey_id", "version"])
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON survey_results EXECUTE FUNCTION survey_ledger_stays()"
    )
    op.execute("ALTER TABLE survey_results ENABLE ALWAYS TRIGGER append_only")
