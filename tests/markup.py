"""HTML as tests compare it: line breaks and indentation of a template are nothing that a reader sees."""

import re


def squeezed(html: str) -> str:
    """Runs of whitespace are one space, and none stands beside a tag."""
    return re.sub(r"\s*(<[^>]+>)\s*", r"\1", re.sub(r"\s+", " ", html))
