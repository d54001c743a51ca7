"""What authors do to a survey: create, save, publish, archive, delete, duplicate.

Every act holds the survey's row, obeys the workspace's ceiling and is audited. Pure rules: definition and differences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid4

from sqlalchemy import delete as delete_from
from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import user_types
from app.accounts.audit import Actor
from app.accounts.models import Tenant
from app.dates import utc_time
from app.db.session import PLATFORM, workspace_of
from app.errors import Conflict, FieldError
from app.surveys import languages_shown, words
from app.surveys.authoring import anonymity, audience, history, opening
from app.surveys.authoring import rows as definition_rows
from app.surveys.authoring.acting import change
from app.surveys.authoring.ceilings import ceiling_of, refuse_above
from app.surveys.authoring.definition import Definition, problems, refusal, tidy, unaskable, unpublishable
from app.surveys.authoring.differences import DefinitionDifference, compare, need_new_version
from app.surveys.authoring.stored import RESPONSES, Stored, load, lock
from app.surveys.models import Survey, Wording

__all__ = [
    "NeedsNewVersion",
    "Saved",
    "StaleForm",
    "Stored",
    "archive",
    "ceiling_of",
    "create",
    "delete",
    "duplicate",
    "load",
    "people_to_ask_again",
    "publish",
    "save",
]

_COPY: Final = "Copy of "


class StaleForm(Conflict):
    """Somebody else saved since the form was opened; `differences` is what they changed, `then` what it was before."""

    def __init__(self, stored: Stored, since: history.ChangedSince) -> None:
        self.saved_by, self.saved_at = stored.updated_by, stored.updated_at
        self.then, self.differences = since.then, tuple(since.differences)
        when = utc_time(stored.updated_at, None)
        names = ", ".join(one.name for one in self.differences)
        super().__init__(
            f"{stored.updated_by} changed this survey on {when}, after you opened it"
            + (f": {names}." if names else ".")
            + " Your changes were not saved. Make them again in the current version."
        )


class NeedsNewVersion(Conflict):
    """People have answered this version; `differences` is what they would not have seen."""

    def __init__(self, stored: Stored, differences: Sequence[DefinitionDifference]) -> None:
        self.differences = tuple(differences)
        names = ", ".join(one.name for one in differences)
        way = (
            "Save it as a new version" if stored.status == "published" else "Publish it, then save it as a new version"
        )
        super().__init__(
            f"People have responded to version {stored.version}, so this needs a new one: {names}."
            f" {way}, or undo these changes.",
            details=[FieldError(one.field, "This needs a new version.") for one in differences],
        )


@dataclass(frozen=True, slots=True)
class Saved:
    """`differences` is empty when nothing was different; then nothing was written, unless a new version was asked
    for."""

    stored: Stored
    differences: tuple[DefinitionDifference, ...]


async def create(db: AsyncSession, actor: Actor, definition: Definition, ceiling: str) -> UUID:
    """A draft with ids of its own: ids that came with its questions are replaced. Raises Forbidden, then Invalid."""
    refuse_above(ceiling, definition.enforcement)
    without_keys = replace(definition, questions=tuple(replace(one, key=None) for one in definition.questions))
    return await _insert(db, actor, await _checked(db, without_keys, None), "create")


async def duplicate(db: AsyncSession, actor: Actor, uid: UUID, ceiling: str) -> UUID:
    """A draft with the same definition under a title of its own. Raises Forbidden, NotFound."""
    refuse_above(ceiling)
    original = (await load(db, uid)).definition
    refuse_above(ceiling, original.enforcement)
    copied = replace(
        original,
        title=f"{_COPY}{original.title}"[: words.LONGEST_TITLE].rstrip(),
        questions=tuple(replace(one, key=uuid4()) for one in original.questions),
    )
    return await _insert(db, actor, copied, "duplicate")


async def save(
    db: AsyncSession,
    actor: Actor,
    uid: UUID,
    definition: Definition,
    *,
    revision: int | None,
    new_version: bool = False,
    ceiling: str,
) -> Saved:
    """Saves over the revision that the author began from; with None over any revision.

    Raises Forbidden above the ceiling, NotFound, StaleForm, Conflict for a new version of an unpublished survey,
    Invalid, and NeedsNewVersion.
    """
    refuse_above(ceiling, definition.enforcement)
    stored = await lock(db, uid)
    refuse_above(ceiling, stored.definition.enforcement)
    if revision is not None and revision != stored.revision:
        raise StaleForm(stored, await history.changed_since(db, stored, revision))
    if new_version and stored.status != "published":
        raise Conflict("Only a published survey gets a new version. Publish it first.")
    wanted = await _checked(db, definition, stored)
    met = await languages_shown.shown(db, stored.id, stored.version) if stored.answered else frozenset()
    await _refuse_unasked(db, stored, wanted, met, new_version=new_version)
    return await _overwrite(db, actor, stored, wanted, new_version=new_version)


async def publish(
    db: AsyncSession, actor: Actor, uid: UUID, now: datetime, ceiling: str, *, revision: int | None = None
) -> bool:
    """True when something changed: a published survey stays as it is, an archived one comes back with its answers.
    `revision` is the one that the person saw, None for any.

    An archived anonymous survey comes back as its next version, because its closed version stays closed. Raises
    Forbidden above the ceiling, NotFound, Conflict for another revision, Invalid for what can't be asked.
    """
    refuse_above(ceiling)
    stored = await lock(db, uid)
    refuse_above(ceiling, stored.definition.enforcement)
    if stored.status == "published":
        return False
    if revision is not None and revision != stored.revision:
        raise Conflict(
            f"{stored.updated_by} changed this survey on {utc_time(stored.updated_at, None)}, after you were asked. Nothing was"
            " published. Look at what changed, then publish it again."
        )
    if found := await audience.missing_to_publish(db, stored.definition, now):
        raise refusal("The survey can't be published", found)
    is_next = stored.definition.is_anonymous and stored.published_at is not None
    version = stored.version + 1 if is_next else stored.version
    wording_id = await definition_rows.wording(db, stored.uid, version, stored.definition)
    published_at = now if is_next else stored.published_at or now
    values = {"status": "published", "version": version, "published_at": published_at, "wording_id": wording_id}
    values |= {"reminded": 0} if is_next else {}
    values |= await opening.begin(db, stored, stored.definition.repeat, version, now)
    await change(db, actor, "publish", stored, values)
    return True


async def archive(db: AsyncSession, actor: Actor, uid: UUID) -> bool:
    """People are no longer asked; answers stay. True when something changed. Raises NotFound, Conflict for a draft."""
    stored = await lock(db, uid)
    refuse_archiving_a_draft(stored)
    if stored.status == "archived":
        return False
    await change(db, actor, "archive", stored, {"status": "archived", "rounds_after": None})
    return True


async def delete(db: AsyncSession, actor: Actor, uid: UUID) -> None:
    """Deletes a draft; only the audit keeps a trace. Raises Forbidden above the ceiling, NotFound, Conflict for a
    survey that is no draft."""
    ceiling = await ceiling_of(db)
    refuse_above(ceiling)
    stored = await lock(db, uid)
    refuse_above(ceiling, stored.definition.enforcement)
    refuse_deleting_what_was_asked(stored)
    await db.execute(delete_from(Survey).where(Survey.id == stored.id))
    await history.note(db, actor, "delete", stored, None)


def refuse_archiving_a_draft(stored: Stored) -> None:
    """Raises Conflict."""
    if stored.status == "draft":
        raise Conflict("A draft can't be archived. Delete it if it is not needed.")


def refuse_deleting_what_was_asked(stored: Stored) -> None:
    """Raises Conflict unless it is a draft without responses."""
    if stored.status != "draft" or stored.answered:
        raise Conflict("Only a draft can be deleted. Archive a survey that was published.")


async def people_to_ask_again(db: AsyncSession, uid: UUID) -> int:
    """How many people a new version would ask again: those with a row in the ledger for the current one."""
    return await db.scalar(select(RESPONSES).where(Survey.uid == uid)) or 0


async def _checked(db: AsyncSession, definition: Definition, stored: Stored | None) -> Definition:
    """Tidied, with the keys of this survey's questions; every other question gets a new key. Raises Invalid."""
    tidied = tidy(definition)
    found = [*problems(tidied), *await _unknown_audience(db, tidied, stored)]
    if tidied.split == "tenant" and workspace_of(db) != PLATFORM:
        found.append(FieldError("split", "Only surveys of the platform are split by tenant; choose another group."))
    if found:
        raise refusal("The survey can't be saved", found)
    known = await _own_keys(db, tidied, stored) if stored else set()
    questions = tuple(one if one.key in known else replace(one, key=uuid4()) for one in tidied.questions)
    return replace(tidied, questions=questions)


async def _own_keys(db: AsyncSession, definition: Definition, stored: Stored) -> set[UUID | None]:
    """The keys of the present questions, and of all that were ever published: a question that comes back keeps its
    id."""
    known = {one.key for one in stored.questions}
    if known.issuperset(one.key for one in definition.questions if one.key):
        return known
    published = await db.scalars(select(func.unnest(Wording.question_keys)).where(Wording.survey_uid == stored.uid))
    return known | {UUID(key) for key in published}


async def _unknown_audience(db: AsyncSession, definition: Definition, stored: Stored | None) -> list[FieldError]:
    """A deleted type or tenant stays in a filter that has it, so that a filter never becomes empty by a deletion."""
    had = stored.definition if stored else None
    types = set(definition.user_types) - set(had.user_types if had else ())
    tenants = set(definition.tenants) - set(had.tenants if had else ())
    if tenants and workspace_of(db) != PLATFORM:
        return [FieldError("tenants", "Only surveys of the platform choose tenants; leave this out.")]
    found = []
    if types and (unknown := types - (await user_types.read(db)).keys()):
        found.append(FieldError("user_types", f"There is no user type {_listed(unknown)} here."))
    if tenants and (unknown := tenants - {PLATFORM, *await db.scalars(select(Tenant.key))}):
        found.append(FieldError("tenants", f"There is no tenant {_listed(unknown)}."))
    return found


def _listed(words_: set[str]) -> str:
    return ", ".join(f"“{one[:60]}”" for one in sorted(words_)[:5])


async def _refuse_unasked(
    db: AsyncSession, stored: Stored, wanted: Definition, met: frozenset[str], *, new_version: bool
) -> None:
    """Refuses changes that leave a published survey without something to ask, or change what people answered. `met` are
    the other languages in which they saw it."""
    now = datetime.now(UTC)
    found = anonymity.fixed(stored.definition, wanted) if stored.published_at else []
    if stored.status == "published":
        found += unpublishable(wanted, now) if new_version else unaskable(wanted)
        round_ends_at = stored.ends_at if stored.definition.repeat else None
        found += [] if new_version else anonymity.closed_end(stored.definition, wanted, now, round_ends_at)
        found += await audience.too_few(db, wanted)
    if found:
        raise refusal("A published survey can't be saved like this", found)
    if stored.answered and not new_version and (needed := need_new_version(stored.definition, wanted, met)):
        raise NeedsNewVersion(stored, needed)


async def _overwrite(db: AsyncSession, actor: Actor, stored: Stored, wanted: Definition, *, new_version: bool) -> Saved:
    differences = compare(stored.definition, wanted)
    if not differences and not new_version:
        return Saved(stored, ())
    version = stored.version + 1 if new_version else stored.version
    values = {**definition_rows.columns(wanted), "version": version}
    if new_version:
        now = datetime.now(UTC)
        values |= {"published_at": now, "reminded": 0, **await opening.begin(db, stored, wanted.repeat, version, now)}
    else:
        values |= opening.stop(stored, wanted)
    if stored.status == "published":
        values["wording_id"] = await definition_rows.wording(db, stored.uid, version, wanted)
    await definition_rows.write_questions(db, stored.id, wanted)
    return Saved(await change(db, actor, "new_version" if new_version else "save", stored, values), differences)


async def _insert(db: AsyncSession, actor: Actor, definition: Definition, act: str) -> UUID:
    statement = insert(Survey).values(
        **definition_rows.columns(definition), created_by=actor.name, updated_by=actor.name
    )
    row = (await db.execute(statement.returning(Survey.id, Survey.uid))).one()
    await definition_rows.write_questions(db, row.id, definition)
    await history.note(db, actor, act, None, await load(db, row.uid))
    uid: UUID = row.uid
    return uid
