"""Our escaping against Jinja's own: the same text for every value in every place a template can put it."""

from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from jinja2 import Environment, StrictUndefined, UndefinedError
from markupsafe import Markup, escape

from app.web.escaping import SparingEnvironment, escaped
from app.web.templating import environment


class Html:
    def __html__(self) -> str:
        return "<b>made & meant</b>"


class HtmlText(str):
    __slots__ = ()

    def __html__(self) -> str:
        return "<i>another text</i>"


class Marked(Markup):
    __slots__ = ()


class Shown:
    def __str__(self) -> str:
        return "<script>alert('&')</script>"


class Word(StrEnum):
    NASTY = "<&>"


class Number(IntEnum):
    ONE = 1


class Quoted(int):
    def __str__(self) -> str:
        return '"<1>"'


VALUES = [
    "", "plain", "<", ">", "&", "'", '"', "&amp;", "<script>alert(1)</script>", "a\"b'c", "\x00<\x00", "\ud800<", "é–°C", "\u2028&",
    Markup(""), Markup("<b>&amp;</b>"), Marked("<i>"), Html(), HtmlText("<u>"), HtmlText("plain"), Shown(), Word.NASTY, Number.ONE, Quoted(1),
    None, True, False, 0, -7, 10**30, 1.5, float("nan"), Decimal("36.6"), b"<bytes>", ["<", 1], {"'": '"'}, ("&",),
]  # fmt: skip
PLACES = [
    "{{ value }}",
    '<a title="{{ value }}">{{ value }}</a>',
    "{{ value ~ '<' }}{{ '<' ~ value }}",
    "{{ value | string }}{{ value | string | upper }}{{ value | e }}{{ value | safe }}{{ value | forceescape }}",
    "{{ [value, value] | join('&') }}",
    "{{ '%s' | format(value) }}{{ '<%s>' | safe | format(value) }}",
    "{% set kept %}<p>{{ value }}</p>{% endset %}{{ kept }}{{ kept ~ value }}",
    "{% macro cell(one) %}<td>{{ one }}{{ caller() if caller }}</td>{% endmacro %}{{ cell(value) }}{{ cell(cell(value)) }}",
    "{% macro cell() %}<td>{{ caller() }}</td>{% endmacro %}{% call cell() %}<b>{{ value }}</b>{% endcall %}",
    "{% filter upper %}<p>{{ value }}</p>{% endfilter %}",
    "{% block one %}{{ value }}{% endblock %}{{ self.one() }}",
    "{% for one in [value] %}{{ one }}{{ loop.index }}{% endfor %}",
    "{% autoescape false %}{{ value }}{% endautoescape %}{{ value }}",
    "{% autoescape loose %}{{ value }}{% endautoescape %}",
    "{{ value if value else 'none & nothing' }}{{ '<' }}",
]


@pytest.mark.parametrize("place", PLACES)
def test_every_value_is_placed_as_jinja_places_it(place: str) -> None:
    sparing, usual = (
        kind(autoescape=True, extensions=["jinja2.ext.do"]).from_string(place)
        for kind in (SparingEnvironment, Environment)
    )
    for value in VALUES:
        for loose in (True, False):
            given = {"value": value, "loose": loose}
            assert _outcome(sparing, given) == _outcome(usual, given), repr(value)


@pytest.mark.parametrize("value", VALUES, ids=[f"{at}-{type(value).__name__}" for at, value in enumerate(VALUES)])
def test_a_value_reads_as_jinja_escapes_it(value: Any) -> None:
    assert str(escaped(value)) == str(escape(value))


def test_what_is_missing_is_still_an_error() -> None:
    template = SparingEnvironment(autoescape=True, undefined=StrictUndefined).from_string("{{ nobody }}")
    with pytest.raises(UndefinedError, match="nobody"):
        template.render()


def test_the_pages_are_written_with_it() -> None:
    """Should a later Jinja ask our generator no more, pages are right but slow: this is where one learns of it."""
    source = environment().compile("<a>{{ value }}</a>", raw=True)
    assert "environment.escaped(" in source


def test_a_generator_that_is_not_asked_leaves_jinjas_own_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(SparingEnvironment.code_generator_class, "_output_child_pre")
    template = SparingEnvironment(autoescape=True)
    assert "environment.escaped(" not in template.compile("{{ value }}", raw=True)
    assert template.from_string("{{ value }}").render(value="<") == "&lt;"


def _outcome(template: Any, given: dict[str, Any]) -> str:
    """The text, or what was raised."""
    try:
        return str(template.render(given))
    except Exception as error:  # noqa: BLE001 -- whatever Jinja raises for this value, ours is to raise too
        return repr(error)
