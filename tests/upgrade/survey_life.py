"""What a workspace lives through with its surveys: two versions, a consent, answers over the API, the demo come and
gone, an erased person, and the head of the ledger noted."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
from litestar import Litestar

from app.accounts import accounts, tokens
from app.accounts.accounts import NewUser
from app.accounts.audit import COMMAND_LINE
from app.parts import Parts
from app.surveys import erasing
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.stored import Stored
from app.surveys.demo import seed as demo
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger.verifying import note_head
from app.surveys.results import tally_marks
from tests.surveys.drafted import AUTHOR, CONSENT, defined
from tests.surveys.recording import EVERY_TYPE

QUEUE, RESPOND, APPS, RATING = (f"/v1/api/me/{one}" for one in ("surveys", "surveys/respond", "apps", "app-rating"))
NAMES = ("Ida", "Jan", "Kaj", "Lea", "Mo", "Nina")
ERASED = "Mo"
BROWSERS = ("Muster for iOS 2.1", "Muster for Android 2.0")


class SurveyLife:
    """One workspace; `app` is the portal."""

    def __init__(self, parts: Parts, workspace: str, app: Litestar) -> None:
        self.parts, self.workspace, self.app = parts, workspace, app
        self.users: dict[str, int] = {}
        self.tokens: dict[str, str] = {}

    async def live(self) -> None:
        await self._make_people()
        await self._seed_demo()
        lunch = await self._publish("Lunch", EVERY_TYPE)
        await self._everybody_answers()
        async with self._transaction() as db:
            changed = replace(lunch.definition, title="Lunch, once more")
            await authoring.save(db, AUTHOR, lunch.uid, changed, revision=None, new_version=True, ceiling="full")
        await self._publish("Badges", [CONSENT], type="consent", enforcement="required")
        async with self._transaction() as db:
            await note_head(db)
        await self._everybody_answers()
        await self._remove_demo()
        person = EvidenceOwner(self.users[ERASED], _email(ERASED, self.workspace), self.workspace)
        await erasing.erase(self.parts.database, COMMAND_LINE, person)
        async with self._transaction() as db:
            await note_head(db)
            await tally_marks.count_up(db)

    async def _make_people(self) -> None:
        async with self._transaction() as db:
            for name in NAMES:
                new = NewUser(_email(name, self.workspace), f"{name} Nyman", "employee", (), "correct horse battery")
                self.users[name] = (await accounts.create(db, COMMAND_LINE, new)).id
                made = await tokens.create(db, COMMAND_LINE, self.users[name], ["me"], name="Phone")
                self.tokens[name] = made.text

    async def _seed_demo(self) -> None:
        async with self._transaction() as db:
            await demo.seed(db, self.parts.keys, datetime.now(UTC), crowd=8)

    async def _remove_demo(self) -> None:
        """Of the platform alone; what real people answered is archived, not deleted."""
        if self.workspace == "main":
            async with self._transaction() as db:
                await demo.remove(db)

    async def _publish(self, title: str, questions: list[dict[str, Any]], **fields: Any) -> Stored:
        definition = defined(**{"title": title, "questions": questions, **fields})
        async with self._transaction() as db:
            uid = await authoring.create(db, AUTHOR, definition, "full")
            await authoring.publish(db, AUTHOR, uid, datetime.now(UTC), "full")
            return await authoring.load(db, uid)

    async def _everybody_answers(self) -> None:
        """All that waits for each of them, and the apps: the last one snoozes what can be snoozed,
        the fourth opts out of most."""
        for place, name in enumerate(NAMES):
            async with self._phone(name, place) as phone:
                while waiting := (await phone.get(QUEUE)).raise_for_status().json()["data"]:
                    for number, survey in enumerate(waiting):
                        reply = _reply(survey, place, number)
                        (await phone.post(RESPOND, json=reply)).raise_for_status()
                for one in (await phone.get(APPS)).raise_for_status().json()["data"]:
                    if one["my_rating_today"] is None:
                        rating = {"app": one["app"], "rating": 1 + place % 5, "platform": one["platforms"][0]}
                        (await phone.post(RATING, json={**rating, "comment": f"{name} thinks so"})).raise_for_status()

    def _phone(self, name: str, place: int) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.tokens[name]}", "User-Agent": BROWSERS[place % len(BROWSERS)]}
        transport = httpx.ASGITransport(app=self.app, client=(f"198.51.100.{place + 1}", 40_000))  # type: ignore[arg-type]
        return httpx.AsyncClient(transport=transport, base_url=self.parts.settings.base_url, headers=headers)

    def _transaction(self) -> Any:
        return self.parts.database.transaction(self.workspace)


def _email(name: str, workspace: str) -> str:
    return f"{name.lower()}@{workspace}.example.org"


def _reply(survey: Mapping[str, Any], place: int, number: int) -> dict[str, Any]:
    """By who they are and what they are asked: agree or decline, answer, opt out, snooze."""
    wanted = "snooze" if place == len(NAMES) - 1 else "opt_out" if place == 3 and number else ""
    action = next(
        one for one in (wanted, "decline" if place % 3 == 2 else "agree", "agree", "answer") if one in survey["actions"]
    )
    reply: dict[str, Any] = {"survey": survey["survey"], "action": action, "version": survey["version"]}
    if action in ("answer", "agree"):
        reply["answers"] = [
            {"question": one["question"], "value": _value(one, place)}
            for one in survey["questions"]
            if one["type"] != "agreement"
        ]
    return reply


def _value(question: Mapping[str, Any], place: int) -> Any:
    options = question["options"]
    match question["type"]:
        case "star_rating":
            return 1 + (place + 3) % 5
        case "multiple_choice":
            return options[: 1 + place % len(options)]
        case "free_text":
            return f"Written by person {place}, with “quotes” and an ü"
        case _:
            return options[place % len(options)]
