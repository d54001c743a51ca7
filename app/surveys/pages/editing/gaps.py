"""Which languages of a survey lack texts, in words for its authors. Pure."""

from app.languages import LANGUAGES
from app.surveys.authoring import translated_texts as texts
from app.surveys.authoring.definition import Definition


def called(tag: str) -> str:
    """The name that its own speakers use, if Muster speaks it, and the tag."""
    name = next((one.name for one in LANGUAGES if one.tag == tag), None)
    return f"{name} ({tag})" if name else tag


def gaps(definition: Definition) -> tuple[str, ...]:
    """`Deutsch (de): 3 of 12 texts are missing`; nothing for a language that has every text."""
    total = len(texts.texts_of(definition, ""))
    lacking = ((tag, texts.missing(definition, tag)) for tag in definition.translations)
    return tuple(_told(called(tag), missing, total) for tag, missing in lacking if missing)


def _told(language: str, missing: int, total: int) -> str:
    return f"{language}: {missing} of {total} texts {'is' if missing == 1 else 'are'} missing"
