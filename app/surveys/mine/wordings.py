"""True when two canonical contents say the same to a person who reads them in one language. Pure."""

import msgspec


def same(before: str, now: str, language: str | None) -> bool:
    """Of two contents of one version. What other languages say does not count, nor what the own language is called: a version that had
    one language when the person read it may have several by now."""
    return _in_language(before, language) == _in_language(now, language)


def _in_language(content: str, language: str | None) -> dict[str, object]:
    told = msgspec.json.decode(content, type=dict[str, object])
    languages = told.pop("translations", {})
    told.pop("language", None)
    texts = languages.get(language) if isinstance(languages, dict) else None
    return {**told, "texts": texts}
