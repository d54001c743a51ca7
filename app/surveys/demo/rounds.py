"""The demo's repeating survey: six monthly rounds, of which the last one is open, each opened on its day."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.authoring import opening
from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.demo.cast import RECOMMEND, DemoSurvey
from app.surveys.rounds import calendar
from app.surveys.rounds.repeats import Repeat

_ROUNDS: Final = 6
# In days: since when the last round is open, and how long each is, so that it stays open for weeks.
_OPEN_SINCE: Final = 6
_OPEN_DAYS: Final = 28
_ANSWERED_DAYS: Final = 12
ENPS: Final = DemoSurvey(
    Definition(
        title="Would you recommend us?",
        type="feedback",
        enforcement="optional",
        message="<p>Two questions, every month. We look at how the number moves, and read every reason.</p>",
        category="Work",
        user_types=("employee", "staff"),
        questions=(
            RECOMMEND,
            QuestionDefinition(None, "How good was your month?", "star_rating"),
            QuestionDefinition(None, "What is the main reason for your number?", "free_text"),
        ),
    ),
    # Approximate: `placed` moves them to the days of the rounds.
    published=tuple(float(_OPEN_SINCE + 30 * left) for left in reversed(range(_ROUNDS))),
    answered_until=tuple(max(0.2, float(_OPEN_SINCE - _ANSWERED_DAYS + 30 * left)) for left in reversed(range(_ROUNDS))),
    share=0.55,
    # A reorganisation in the third month, and how people got used to it.
    drift=(
        (1, 1, 1, 2, 3, 6, 8, 16, 26, 20, 16),
        (1, 1, 1, 2, 3, 6, 8, 15, 25, 21, 17),
        (3, 3, 4, 5, 7, 12, 13, 18, 18, 10, 7),
        (2, 2, 3, 4, 5, 10, 12, 18, 22, 13, 9),
        (1, 1, 2, 2, 4, 7, 9, 17, 25, 18, 14),
        (1, 0, 1, 1, 2, 5, 7, 15, 25, 24, 19),
    ),
    weights=((1,) * 11, (4, 10, 26, 38, 22), ()),
    opted_out=0.0,
)  # fmt: skip


def placed(survey: DemoSurvey, now: datetime, zone: ZoneInfo) -> DemoSurvey:
    """With its rounds on days before `now`; a survey without rounds stays as it is."""
    if survey is not ENPS:
        return survey
    last = now.astimezone(zone).date() - timedelta(days=_OPEN_SINCE)
    repeat = Repeat("month", _OPEN_DAYS, calendar.months_later(last, 1 - _ROUNDS))
    begun = [calendar.opened(repeat, number, zone).starts_at for number in range(1, _ROUNDS + 1)]
    since = tuple((now - at) / timedelta(days=1) for at in begun)
    until = tuple(max(0.2, days - _ANSWERED_DAYS) for days in since)
    return replace(survey, definition=replace(survey.definition, repeat=repeat), published=since, answered_until=until)


async def open_round(db: AsyncSession, uid: UUID, at: datetime) -> None:
    """Opens the round that was due then, as the schedule would have."""
    if await opening.open_due(db, uid, at) is None:
        raise RuntimeError("the demo's rounds open on their days")
