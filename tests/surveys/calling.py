"""Calling as somebody of the cast: a mobile app with a token, and the context of a browser's request
without the browser."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from sqlalchemy import event, select

from app.accounts.models import Tenant, User
from app.db.session import Database
from app.parts import Parts
from app.web.context import Context
from app.web.gate import _Answer
from app.web.sessions import PERSON_COLUMNS, person_of
from tests.conftest import Browser
from tests.direct import heard

QUEUE, RESPOND = "/v1/api/me/surveys", "/v1/api/me/surveys/respond"


class App:
    """A mobile app with somebody's token."""

    def __init__(self, browser: Browser, token: str) -> None:
        self.browser, self.headers = browser, {"Authorization": f"Bearer {token}"}

    async def get(self, url: str) -> Any:
        return await self.browser.get(url, headers=self.headers)

    async def post(self, url: str, body: Any) -> Any:
        return await self.browser.post(url, json=body, headers=self.headers)

    async def queue(self) -> Any:
        answer = await self.get(QUEUE)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def titles(self) -> list[str]:
        return [row["title"] for row in (await self.queue())["data"]]

    async def respond(self, survey: Any, action: str = "answer", *answers: tuple[Any, Any], **body: Any) -> Any:
        """`answers` are pairs of a question's id and a value."""
        told = [{"question": str(question), "value": value} for question, value in answers]
        sent = {"survey": str(survey), "action": action, **({"answers": told} if told else {}), **body}
        return await self.post(RESPOND, sent)

    async def recorded(self, *args: Any, **body: Any) -> Any:
        answer = await self.respond(*args, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


def refused(answer: Any) -> tuple[int, str]:
    """Status and code of a failure."""
    return answer.status_code, answer.json()["error"]["code"]


@asynccontextmanager
async def request_of(parts: Parts, short: str, session: int) -> AsyncIterator[Context]:
    """A request of that person in their browser session of this number; it commits when the block ends."""
    async with parts.database.shared_transaction() as db:
        found = select(*PERSON_COLUMNS).outerjoin(Tenant, Tenant.key == User.workspace)
        row = (await db.execute(found.where(User.email == f"{short}@example.org"))).one()
    person = person_of(row, session_id=session, session_key=b"")
    transaction = parts.database.transaction(person.workspace)
    db = await transaction.__aenter__()
    ctx = Context(parts, db, "request", "192.0.2.7", "tests", person=person, policies=row.policies)
    answer = _Answer(None, (), {}, parts)  # type: ignore[arg-type, typeddict-item]
    answer.holds(transaction, ctx)
    try:
        yield ctx
        await answer.settle()
    finally:
        await answer.release()


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """What is sent to the database meanwhile: the settings of the search path aside,
    "BEGIN…" where a transaction begins."""
    sent: list[str] = []

    def executed(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", executed)
    try:
        with heard(database, sent.append):
            yield sent
    finally:
        event.remove(engine, "before_cursor_execute", executed)


def by_transaction(sent: list[str]) -> list[int]:
    """How many statements each transaction had, in turn."""
    counts: list[int] = []
    for statement in sent:
        if statement.startswith("BEGIN"):
            counts.append(0)
        else:
            counts[-1] += 1
    return counts
