"""The tables of surveys, in every workspace. No query here.

The ledger is `survey_responses` and `survey_changes`, one chain, with the projection `survey_answers` and the wordings
they refer to: append-only by grant and by trigger. What figures count of it is derived and can be rebuilt at any time
(`survey_tallies`).
"""

from datetime import date, datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, SmallInteger, UniqueConstraint, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created, Id, Words

APPEND_ONLY = {"info": {"append_only": True}}
ONE_ROW = {"info": {"one_row": True}}
# In a tally in place of a question: the row counts whole responses.
WHOLE = UUID(int=0)
IS_WHOLE = text(f"question_key = '{WHOLE}'::uuid")


class Survey(Base):
    """A definition as it is now. `uid` is its public name; `revision` counts saves, so that a stale form is noticed.

    Pacing is null when `enforcement` is required. `published_at` is the first publish of the current version,
    `wording_id` the text in force while published. Deleted ones are removed demo rows. `unnoted_version` is a version
    that went out to apps before `handed_out_at` was stored. `closing_html` is the author's words after an answer.
    `needs` is what an app must be able to show to get it (`question_details.needs`). `language` is the tag of its
    texts; `translations` holds the texts of other languages by tag (app.surveys.translations), null when it has none:
    it has every other language, even one in which only questions have texts. `split` is the group that a ballot of an
    anonymous survey keeps.

    `repeat` is the rule of its rounds (`repeats.Repeat`); `starts_at` and `ends_at` are then the window of a round.
    Rounds of days later than `rounds_after` open by themselves. It is null while none do: the survey is not published,
    or was edited since. An opt-out since version `rounds_from`, the last one that a person published, holds for all
    rounds. `reminded` counts how often people were reminded of this version because of `remind_days`.
    """

    __tablename__ = "surveys"
    __table_args__ = (
        CheckConstraint("type IN ('rating', 'consent', 'poll', 'feedback')", name="type"),
        CheckConstraint("enforcement IN ('optional', 'required')", name="enforcement"),
        CheckConstraint("anonymity IN ('named', 'anonymous')", name="anonymity"),
        CheckConstraint(
            "split IS NULL OR (anonymity = 'anonymous' AND split IN ('type', 'tenant', 'department'))", name="split"
        ),
        CheckConstraint("status IN ('draft', 'published', 'archived')", name="status"),
        CheckConstraint("starts_at < ends_at", name="window"),
        CheckConstraint(
            "(enforcement = 'required') = (snooze_hours IS NULL) AND (enforcement = 'required') = (cooldown_days IS NULL)"
            " AND (enforcement = 'required') = (max_prompts IS NULL)",
            name="pacing",
        ),
        Index("surveys_published", "id", postgresql_where=text("status = 'published' AND deleted_at IS NULL")),
        Index("surveys_rounds", "id", postgresql_where=text("rounds_after IS NOT NULL")),
    )

    id: Mapped[Id]
    uid: Mapped[UUID] = mapped_column(unique=True, server_default=func.gen_random_uuid())
    title: Mapped[str]
    type: Mapped[str]
    enforcement: Mapped[str]
    message: Mapped[str] = mapped_column(server_default="")
    closing_html: Mapped[str] = mapped_column(server_default="")
    anonymity: Mapped[str] = mapped_column(server_default="named")
    split: Mapped[str | None]
    category: Mapped[str | None]
    user_types: Mapped[Words]
    tenants: Mapped[Words]
    starts_at: Mapped[datetime | None]
    ends_at: Mapped[datetime | None]
    snooze_hours: Mapped[int | None]
    cooldown_days: Mapped[int | None]
    max_prompts: Mapped[int | None]
    status: Mapped[str] = mapped_column(server_default="draft")
    version: Mapped[int] = mapped_column(server_default="1")
    content_hash: Mapped[str]
    wording_id: Mapped[int | None] = mapped_column(ForeignKey("survey_wordings.id"))
    published_at: Mapped[datetime | None]
    revision: Mapped[int] = mapped_column(server_default="1")
    demo: Mapped[bool] = mapped_column(server_default=text("false"))
    unnoted_version: Mapped[int | None]
    needs: Mapped[Words]
    language: Mapped[str] = mapped_column(server_default="en")
    translations: Mapped[dict[str, dict[str, str]] | None] = mapped_column(JSONB(none_as_null=True))
    repeat: Mapped[dict[str, object] | None] = mapped_column(JSONB(none_as_null=True))
    remind_days: Mapped[int | None] = mapped_column(SmallInteger)
    rounds_after: Mapped[date | None]
    rounds_from: Mapped[int | None]
    reminded: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    created_by: Mapped[str]
    created_at: Mapped[Created]
    updated_by: Mapped[str]
    updated_at: Mapped[Created]
    deleted_at: Mapped[datetime | None]


class SurveyRound(Base):
    """A round of a repeating survey: of its day (in the zone that the workspace had), open from `starts_at` until
    `ends_at`. It was published as `version`; null means that it was left out, for the reason `left_out`."""

    __tablename__ = "survey_rounds"
    __table_args__ = (
        CheckConstraint("(version IS NULL) = (left_out IS NOT NULL)", name="left_out"),
        UniqueConstraint("survey_id", "version"),
    )

    id: Mapped[Id]
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"))
    version: Mapped[int | None]
    day: Mapped[date]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    left_out: Mapped[str | None]


class Invitation(Base):
    """A mail about one version that waits for one person, or was sent or dropped. `turn` 0 is an invitation, 1 and 2
    are reminders, so a person is never reminded more than twice. `asked_by` is who asked for it."""

    __tablename__ = "survey_invitations"
    __table_args__ = (
        CheckConstraint("turn BETWEEN 0 AND 2", name="turn"),
        CheckConstraint("num_nonnulls(sent_at, dropped_at) < 2", name="ended"),
        Index("survey_invitations_waiting", "due_at", postgresql_where=text("sent_at IS NULL AND dropped_at IS NULL")),
    )

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    turn: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    asked_by: Mapped[str]
    due_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    dropped_at: Mapped[datetime | None]


class Question(Base):
    """A question of the definition as it is now; `key` is its permanent id, in both APIs and in the ledger. `details`
    are those of app.surveys.question_details, `translations` its texts in other languages by tag; null when it has
    none."""

    __tablename__ = "survey_questions"
    __table_args__ = (
        CheckConstraint(
            "type IN ('agreement', 'star_rating', 'scale', 'single_choice', 'multiple_choice', 'free_text',"
            " 'nps', 'number', 'date', 'matrix')",
            name="type",
        ),
        UniqueConstraint("survey_id", "position", deferrable=True, initially="DEFERRED"),
    )

    key: Mapped[UUID] = mapped_column(primary_key=True, server_default=func.gen_random_uuid())
    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(SmallInteger)
    label: Mapped[str]
    type: Mapped[str]
    options: Mapped[Words]
    required: Mapped[bool]
    details: Mapped[dict[str, object] | None] = mapped_column(JSONB(none_as_null=True))
    translations: Mapped[dict[str, dict[str, object]] | None] = mapped_column(JSONB(none_as_null=True))


class Wording(Base):
    """The exact words that people saw: the canonical text behind a content hash, and the keys of its questions in
    order.

    Written when a survey is published and at each save of a published one.
    """

    __tablename__ = "survey_wordings"
    __table_args__ = (UniqueConstraint("survey_uid", "version", "content_hash", "question_keys"), APPEND_ONLY)

    id: Mapped[Id]
    survey_uid: Mapped[UUID]
    version: Mapped[int]
    content_hash: Mapped[str]
    content: Mapped[str]
    question_keys: Mapped[Words]
    created_at: Mapped[Created]


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
    """One choice of one response, for counting. What `choice` holds, by the type of the question (`chain.choices` writes it):

    * star rating, NPS: the whole number, "4".
    * scale, single choice: the text of the option.
    * multiple choice: a tick is a row of its own, with the text of its option.
    * number: as `decimals.written` writes it, "12" or "-3.5": one number, one text.
    * date: "2026-11-25".
    * matrix: each answered row is a row of its own: the text of the row, a tab, the text of its choice. Neither holds a tab.
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


class PromptState(Base):
    """How often and when one person saw one version. `shown_in` is the number of the browser session in which the web
    prompt shows it until the person acts on it; `handed_out_at` is when an app first got it behind another survey,
    which counts no impression."""

    __tablename__ = "survey_prompt_state"
    __table_args__ = (Index(None, "user_id", "last_shown_at"), Index(None, "first_shown_at"))

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(primary_key=True)
    impressions: Mapped[int] = mapped_column(server_default="0")
    first_shown_at: Mapped[datetime | None]
    last_shown_at: Mapped[datetime | None]
    snoozed_until: Mapped[datetime | None]
    shown_in: Mapped[int | None]
    handed_out_at: Mapped[datetime | None]


class LanguageShown(Base):
    """A language other than its own in which somebody saw this version: from then on its texts are content."""

    __tablename__ = "survey_languages_shown"

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)
    shown_at: Mapped[Created]


class Tally(Base):
    """Counted responses up to the ledger number in `survey_tally_mark`, per survey, version, UTC day, outcome, question
    and choice. A withdrawn agreement counts under the outcome `withdrawn`, on the day of the agreement. Rows of the
    whole response have the nil question and choice ''. What came after the mark is counted live.

    Rows with the outcome `asked` count people by the day of their first impression, up to the mark's instant.
    """

    __tablename__ = "survey_tallies"
    __table_args__ = (
        Index(
            "survey_tallies_whole",
            "survey_id",
            "version",
            "day",
            "outcome",
            postgresql_include=["people", "unprompted"],
            postgresql_where=IS_WHOLE,
        ),
        Index(
            "survey_tallies_days",
            "day",
            "outcome",
            postgresql_include=["people"],
            postgresql_where=IS_WHOLE,
        ),
    )

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    outcome: Mapped[str] = mapped_column(primary_key=True)
    question_key: Mapped[UUID] = mapped_column(primary_key=True)
    choice: Mapped[str] = mapped_column(primary_key=True)
    people: Mapped[int]
    unprompted: Mapped[int] = mapped_column(server_default="0")


class TallyMark(Base):
    """Up to which ledger number `survey_tallies` counts responses, up to which one it counts their changes
    (`changes_number`, never the larger one), and up to which instant first impressions (`id` is always 1).

    There are two numbers, because a worker of the version before moves the first one past changes that it does not
    know.
    """

    __tablename__ = "survey_tally_mark"
    __table_args__ = (CheckConstraint("id = 1", name="single"), ONE_ROW)

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, server_default="1", autoincrement=False)
    number: Mapped[int] = mapped_column(server_default="0")
    changes_number: Mapped[int] = mapped_column(server_default="0")
    shown_until: Mapped[datetime] = mapped_column(server_default=text("'1970-01-01T00:00:00Z'"))


class KeptSplit(Base):
    """The answers to one version by groups of people, as app.surveys.results.splits counted them in the background at
    `counted_at`: `people` per group, question and choice, and `middles`, means and medians of numbers per group and
    question."""

    __tablename__ = "survey_splits"
    __table_args__ = (CheckConstraint("split IN ('type', 'tenant', 'department', 'language')", name="split"),)

    survey_id: Mapped[int] = mapped_column(ForeignKey("surveys.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    split: Mapped[str] = mapped_column(primary_key=True)
    figures: Mapped[dict[str, list[list[str | int | None]]]] = mapped_column(JSONB)
    counted_at: Mapped[datetime]
