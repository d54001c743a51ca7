"""`make words`: brings the catalogues up to what the code and the templates mark. What is new has no translation yet;
what is no longer marked goes."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from app.languages import ENGLISH, TAGS
from app.wording.catalogues import path_of

ROOT: Final = Path(__file__).parents[2]
IN_CODE: Final = {"marked": None, "worded": None}
IN_TEMPLATES: Final = {"_": None, "shell": None, "ngettext": (1, 2)}
# Without dates and line numbers, so that a change of the code changes here what it means alone.
_HEAD: Final = """msgid ""
msgstr ""
"Language: {tag}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {plural_forms}\\n"

"""
_WIDTH: Final = 100
_SETTINGS: Final = {"trimmed": "true", "silent": "false", "extensions": "jinja2.ext.do"}


def marked_texts() -> Catalog:
    """Every text that is marked, with the files where it stands."""
    found = Catalog()
    for path in sorted((ROOT / "app").rglob("*.py")):
        _add(found, path, extract_from_file("python", path, keywords=IN_CODE))
    for path in sorted((ROOT / "templates").rglob("*.html")):
        _add(found, path, extract_from_file("jinja2", path, keywords=IN_TEMPLATES, options=_SETTINGS))
    return found


def _add(found: Catalog, path: Path, texts: Iterable[tuple[int, str | tuple[str, ...], list[str], str | None]]) -> None:
    for line, text, _, _ in texts:
        found.add(text, locations=[(str(path.relative_to(ROOT)), line)])


def update(tag: str, texts: Catalog) -> list[str]:
    """Writes the catalogue of one language. Returns what it does not translate yet."""
    path = path_of(tag)
    if path.exists():
        with path.open("rb") as source:
            known = read_po(source, locale=tag)
    else:
        known = Catalog(locale=tag)
    known.update(texts, no_fuzzy_matching=True)
    known.obsolete.clear()
    with path.open("wb") as target:
        target.write(_HEAD.format(tag=tag, plural_forms=known.plural_forms).encode())
        write_po(target, known, width=_WIDTH, sort_output=True, include_lineno=False, omit_header=True)
    return [str(one.id) for one in known if one.id and not _is_whole(one.string)]


def _is_whole(translation: str | Sequence[str] | None) -> bool:
    """Also in every plural."""
    return bool(translation) if isinstance(translation, str | None) else all(translation)


def main() -> int:
    texts = marked_texts()
    missing = {tag: update(tag, texts) for tag in TAGS if tag != ENGLISH}
    for tag, texts_without in missing.items():
        for one in texts_without:
            print(f"{tag}: {one}", file=sys.stderr)  # noqa: T201 - for the person who ran it
    return 1 if any(missing.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
