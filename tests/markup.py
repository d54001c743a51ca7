"""HTML as tests compare it: line breaks and indentation of a template are nothing that a reader sees."""

import re


def squeezed(html: str) -> str:
    """Runs of whitespace are one space, and none stands beside a tag."""
    return re.sub(r"\s*(<[^>]+>)\s*", r"\1", re.sub(r"\s+", " ", html))


def unnamed_forms(html: str) -> list[str]:
    """Where forms lead that have a field to fill in but no name: a screen reader lists them as *form*, without more."""
    forms = re.findall(r"<form([^>]*)>(.*?)</form>", html, re.DOTALL)
    return [
        tag.partition('action="')[2].partition('"')[0]
        for tag, inside in forms
        if re.search(r'<(?:select|textarea|input(?![^>]*type="hidden"))', inside)
        and not re.search(r'aria-label|role="search"', tag)
    ]
