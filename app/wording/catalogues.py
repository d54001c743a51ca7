"""The catalogues: `languages/TAG.po` as gettext knows them.
Each is read once in a process, when somebody first needs it."""

from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from app.languages import ENGLISH

FOLDER = Path(__file__).parent / "languages"


def path_of(tag: str) -> Path:
    return FOLDER / f"{tag}.po"


@cache
def catalogue(tag: str) -> NullTranslations:
    """English is what stands in the code. There is no compiled file that could be older than its source."""
    if tag == ENGLISH:
        return NullTranslations()
    compiled = BytesIO()
    with path_of(tag).open("rb") as source:
        write_mo(compiled, read_po(source, locale=tag))
    compiled.seek(0)
    return GNUTranslations(compiled)
