"""The owner of the tables of the ledger, who takes their guards away and changes rows behind the portal's back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

REWRITTEN = ("survey_answers", "survey_changes", "survey_responses")
LEDGER = (*REWRITTEN, "survey_wordings")
KEPT = (*LEDGER, "survey_ledger_head")
REFERS = {"survey_answers": "number", "survey_changes": "response_number"}


class Owner:
    """The owner of the tables: takes the guards and a foreign key away, and does as they please."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self.run(
            "SET search_path = main, shared",
            *(f"ALTER TABLE {table} DROP CONSTRAINT {table}_{column}_fkey" for table, column in REFERS.items()),
        )
        self.run(*(f"ALTER TABLE {table} DISABLE TRIGGER append_only" for table in LEDGER))

    def run(self, *statements: str) -> None:
        for one in statements:
            assert self.connection.execute(one).rowcount, one

    @contextmanager
    def tampering(self, *statements: str) -> Iterator[None]:
        """The statements, undone at the end."""
        for table in KEPT:
            self.connection.execute(f"CREATE TEMP TABLE kept_{table} AS TABLE {table}")
        self.run(*statements)
        yield
        for table in REWRITTEN:
            self.connection.execute(f"DELETE FROM {table}")
        for table in reversed(REWRITTEN):
            self.connection.execute(f"INSERT INTO {table} TABLE kept_{table}")
        self.run(
            "UPDATE survey_ledger_head SET (number, row_hash) = (SELECT number, row_hash FROM kept_survey_ledger_head)",
            "UPDATE survey_wordings w SET content = k.content, content_hash = k.content_hash, question_keys = k.question_keys"
            " FROM kept_survey_wordings k WHERE k.id = w.id",
            *(f"DROP TABLE kept_{table}" for table in KEPT),
        )

    def restore_guards(self) -> None:
        self.run(*(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only" for table in LEDGER))
        self.run(
            *(
                f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_fkey"
                f" FOREIGN KEY ({column}) REFERENCES survey_responses (number) NOT VALID"
                for table, column in REFERS.items()
            )
        )
