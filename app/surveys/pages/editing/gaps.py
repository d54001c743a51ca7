"""Which languages of a survey lack texts, and which translations may no longer fit, in words for its authors. Pure."""

from app.languages import LANGUAGES
from app.surveys.authoring import translated_texts as texts
from app.surveys.authoring.definition import Definition
from app.surveys.authoring.translated_texts import TranslatableText


def called(tag: str) -> str:
    """The name that its own speakers use, if Muster speaks it, and the tag."""
    name = next((one.name for one in LANGUAGES if one.tag == tag), None)
    return f"{name} ({tag})" if name else tag


def gaps(definition: Definition) -> tuple[str, ...]:
    """`Deutsch (de): 3 of 12 texts are missing`; nothing for a language that has every text."""
    total = len(texts.texts_of(definition, ""))
    lacking = ((tag, texts.missing(definition, tag)) for tag in definition.translations)
    return tuple(_told(called(tag), missing, total) for tag, missing in lacking if missing)


def to_check(before: Definition, now: Definition) -> str:
    """Names the texts that changed while a translation of theirs stayed as it was; "" for none."""
    found: dict[str, None] = {}
    for tag in now.translations:
        were = texts.texts_of(before, tag)
        around, *asked = texts.groups(now, tag)
        found |= dict.fromkeys(one.called for one in around.texts if _stayed(were.get(one.name), one))
        found |= dict.fromkeys(
            group.called for group in asked if any(_stayed(were.get(one.name), one) for one in group.texts)
        )
    return f"The text changed, the translations stayed. Check them: {', '.join(found)}." if found else ""


def _stayed(was: TranslatableText | None, now: TranslatableText) -> bool:
    return was is not None and was.source != now.source and bool(now.text) and was.text == now.text


def _told(language: str, missing: int, total: int) -> str:
    return f"{language}: {missing} of {total} texts {'is' if missing == 1 else 'are'} missing"
