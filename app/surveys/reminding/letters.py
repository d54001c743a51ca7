"""What an invitation or a reminder says, in the language of the person."""

from typing import Any

from app import languages
from app.mail import unsubscribing
from app.mail.letters import Letter
from app.parts import Parts
from app.surveys import translations
from app.surveys.reminding.turns import INVITED
from app.wording.marked import marked, worded
from app.wording.speech import speech_for


def letter(parts: Parts, row: Any) -> Letter:
    """`row` is a mail of `handing_over`, with the survey and the account. It uses the person's language, otherwise the
    survey's: here no browser says what the person reads."""
    say = speech_for([row.choice or row.language])
    title = title_for(row)
    if row.turn > INVITED:
        subject = say(worded("Reminder: {title}", title=title))
        said = worded("the survey “{title}” has not got your answer yet.", title=title)
    else:
        subject, said = title, worded("the survey “{title}” asks for your answer.", title=title)
    ends = [say(worded("It can be answered until {time}.", time=say.in_utc(row.ends_at)))] if row.ends_at else []
    return Letter(
        row.email,
        subject,
        (say(worded("Hello {name},", name=row.name)), say(said), *ends),
        (say(marked("Open Questions for you")), f"{parts.settings.base_url}/me/questions"),
        (say(marked("You get at most two reminders of it.")),),
        unsubscribing.link(parts, row.user_id, unsubscribing.SURVEYS),
        speech=say,
    )


def title_for(row: Any) -> str:
    """In the person's language if the survey has it, otherwise in its own."""
    by_tag = row.translations or {}
    tag = languages.best((row.language, *by_tag), [row.choice] if row.choice else [], row.language)
    return translations.survey_texts(by_tag.get(tag)).title or str(row.title)
