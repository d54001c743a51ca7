"""The ledger: responses and what became of them, in one chain, and the keys of the people in it."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, SmallInteger, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id
from app.surveys.models.marks import APPEND_ONLY, ONE_ROW


class Response(Base):
    """One row of the ledger. `number` has no gaps in the workspace, together with those of `survey_changes`. `row_hash`
    covers `entry`, an RFC 8785 text, and the row_hash before it; every other column repeats what the entry says, for
    searching. `row_hash` in hex is the receipt, and the address of the response's page.

    `person` is a person number (`survey_people`), in a column that is called `user_id`. `sealed` is the personal
    evidence (IP, browser, free texts) as JSON under the person's key, null when there is none. `prompted`: the person
    had an impression of this version; `language` is the one in which they read it, null when the survey had no
    translations. `stored_at` is not in the entry: it is when the row was written, by the clock of the database.
    """

    __tablename__ = "survey_responses"
    __table_args__ = (
        CheckConstraint("outcome IN ('answered', 'agreed', 'declined', 'opted_out')", name="outcome"),
        CheckConstraint("source IN ('web', 'api', 'demo')", name="source"),
        UniqueConstraint("survey_id", "version", "user_id"),
        # The list and the figures go by day, with any other filters.
        Index(None, "survey_id", "recorded_at", "number"),
        Index(None, "outcome", "recorded_at", "number"),
        Index(None, "recorded_at", "number"),
        Index(None, "user_id", "number"),
        Index("survey_responses_opted_out", "survey_id", "user_id", postgresql_where=text("outcome = 'opted_out'")),
        Index(
            "survey_responses_language",
            "language",
            "recorded_at",
            "number",
            postgresql_where=text("language IS NOT NULL"),
        ),
        Index("survey_responses_texts", "survey_id", "version", "number", postgresql_where=text("has_text")),
        Index(None, "stored_at", "number"),
        APPEND_ONLY,
    )

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id"))
    version: Mapped[int]
    wording_id: Mapped[int] = mapped_column(ForeignKey("survey_wordings.id"))
    person: Mapped[int] = mapped_column("user_id")
    outcome: Mapped[str]
    source: Mapped[str]
    recorded_at: Mapped[datetime]
    prompted: Mapped[bool]
    language: Mapped[str | None]
    has_text: Mapped[bool]
    key_id: Mapped[int | None] = mapped_column(ForeignKey("survey_person_keys.id"))
    sealed: Mapped[str | None]
    entry: Mapped[str]
    row_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    stored_at: Mapped[Created]


class Answer(Base):
    """One choice of one response, for counting. What `choice` holds, by the type of the question (`chain.choices`
    writes it):

    * star rating, NPS: the whole number, "4".
    * scale, single choice: the text of the option.
    * multiple choice: a tick is a row of its own, with the text of its option.
    * number: as `decimals.written` writes it, "12" or "-3.5": one number, one text.
    * date: "2026-11-25".
    * matrix: each answered row is a row of its own: the text of the row, a tab, the text of its choice.
      Neither holds a tab.
    * free text: '', since the text itself is in `sealed`.
    """

    __tablename__ = "survey_answers"
    __table_args__ = (Index(None, "question_key", "number"), APPEND_ONLY)

    number: Mapped[int] = mapped_column(ForeignKey("survey_responses.number"), primary_key=True, autoincrement=False)
    question_key: Mapped[UUID] = mapped_column(primary_key=True)
    choice: Mapped[str] = mapped_column(primary_key=True)


class LedgerChange(Base):
    """A row of the chain that changes an earlier one, or closes a version. It takes the next number of the same chain
    as `survey_responses`, and its hash covers the row before, of either table; its columns repeat its entry, too.

    `withdrawn` and `agreed_again` change an agreement: `turn` counts the changes of one response, so the odd ones
    withdraw; the response itself stays, and its standing is the last change. `closed` ends an anonymous version: it has
    no person, but how many ballots were opened (`ballots`) and the SHA-256 of the sorted results in hex (`results`).
    """

    __tablename__ = "survey_changes"
    __table_args__ = (
        CheckConstraint("kind IN ('withdrawn', 'agreed_again', 'closed')", name="kind"),
        CheckConstraint("source IN ('web', 'api', 'demo')", name="source"),
        CheckConstraint("turn > 0 AND (turn % 2 = 1) = (kind = 'withdrawn')", name="turn"),
        CheckConstraint(
            "CASE WHEN kind = 'closed' THEN num_nonnulls(response_number, turn, user_id, source, key_id, sealed) = 0"
            " AND num_nulls(ballots, results) = 0"
            " ELSE num_nulls(response_number, turn, user_id, source) = 0 AND num_nonnulls(ballots, results) = 0 END",
            name="shape",
        ),
        UniqueConstraint("response_number", "turn"),
        Index("survey_changes_closed", "survey_id", "version", unique=True, postgresql_where=text("kind = 'closed'")),
        Index(None, "user_id", "number"),
        Index(None, "stored_at", "response_number"),
        APPEND_ONLY,
    )

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id"))
    version: Mapped[int]
    response_number: Mapped[int | None] = mapped_column(ForeignKey("survey_responses.number"))
    turn: Mapped[int | None]
    person: Mapped[int | None] = mapped_column("user_id")
    source: Mapped[str | None]
    recorded_at: Mapped[datetime]
    key_id: Mapped[int | None] = mapped_column(ForeignKey("survey_person_keys.id"))
    sealed: Mapped[str | None]
    ballots: Mapped[int | None]
    results: Mapped[str | None]
    entry: Mapped[str]
    row_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    stored_at: Mapped[Created]


class LedgerHead(Base):
    """The last row of the chain (`id` is always 1); number 0 and 32 zero bytes before the first."""

    __tablename__ = "survey_ledger_head"
    __table_args__ = (CheckConstraint("id = 1", name="single"), ONE_ROW)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, server_default="1", autoincrement=False)
    number: Mapped[int] = mapped_column(server_default="0")
    row_hash: Mapped[bytes] = mapped_column(LargeBinary)


class LedgerPerson(Base):
    """Which account has which person number of the ledger; null when the account is gone. At first both are equal; in a
    tenant that came from another installation they differ (`ledger/people.py`)."""

    __tablename__ = "survey_people"
    __table_args__ = (APPEND_ONLY,)

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    user_id: Mapped[int | None] = mapped_column(unique=True)


class PersonKey(Base):
    """The key of one person's evidence, sealed with the key ring; destroyed (null) when the person is erased. A person
    who answers again after that gets another key. `person` is a person number (`survey_people`)."""

    __tablename__ = "survey_person_keys"
    __table_args__ = (
        Index("survey_person_keys_live", "user_id", unique=True, postgresql_where=text("erased_at IS NULL")),
        Index("survey_person_keys_erased", "erased_at", postgresql_where=text("erased_at IS NOT NULL")),
        CheckConstraint("(sealed_key IS NULL) = (erased_at IS NOT NULL)", name="erased"),
    )

    id: Mapped[Id]
    person: Mapped[int] = mapped_column("user_id")
    sealed_key: Mapped[str | None]
    created_at: Mapped[Created]
    erased_at: Mapped[datetime | None]


class Tombstone(Base):
    """A removed demo response: the ledger keeps it, and no figure or list counts it."""

    __tablename__ = "survey_tombstones"
    __table_args__ = (Index(None, "removed_at", "number"), APPEND_ONLY)

    number: Mapped[int] = mapped_column(ForeignKey("survey_responses.number"), primary_key=True, autoincrement=False)
    removed_at: Mapped[Created]
