"""Compares two canonical contents as a person reads them in one language. Pure."""

import msgspec


def same(before: str, now: str, language: str | None) -> bool:
    """True when two contents of one version say the same in that language. Other languages do not count, nor what the
    own language is called: a version with one language may have got others after the person read it."""
    return _in_language(before, language) == _in_language(now, language)


def _in_language(content: str, language: str | None) -> dict[str, object]:
    told = msgspec.json.decode(content, type=dict[str, object])
    languages = told.pop("translations", {})
    told.pop("language", None)
    texts = languages.get(language) if isinstance(languages, dict) else None
    return {**told, "texts": texts}
