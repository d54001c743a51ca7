"""The small elements that stand everywhere."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from app.dates import PageZone
from app.web.formats import day
from app.web.marks import badge, linked, time_ago, time_as, time_at, time_day, time_utc
from app.web.templating import environment

AT = datetime(2026, 11, 21, 7, 0, 5, tzinfo=UTC)
NOW = AT + timedelta(minutes=5)
ZAGREB = PageZone.at(ZoneInfo("Europe/Zagreb"), NOW)


def test_a_badge_shows_its_word_or_its_label() -> None:
    assert badge("auto_matched") == '<span class="badge" data-state="auto_matched">Auto matched</span>'
    assert badge("bound", "Linked", "By hand") == '<span class="badge" data-state="bound" title="By hand">Linked</span>'


def test_a_badge_takes_its_colour_from_a_tone_where_no_state_decides_it() -> None:
    assert badge("", "Gone", tone="bad") == '<span class="badge" data-tone="bad">Gone</span>'
    assert badge("", "cleared") == '<span class="badge">cleared</span>'


def test_what_people_typed_is_escaped() -> None:
    assert badge('"x', "<b>", '"y') == '<span class="badge" data-state="&#34;x" title="&#34;y">&lt;b&gt;</span>'
    assert "<b>" not in time_as(AT, "<b>", "<b>")


def test_a_name_is_a_link_only_for_those_who_may_open_it() -> None:
    assert linked("Ann <3", "/people/1?a=1&b=2") == '<a href="/people/1?a=1&amp;b=2" data-drawer>Ann &lt;3</a>'
    assert linked("Ann <3", "/people/1", may=False) == "Ann &lt;3"


def test_an_instant_is_told_in_words_and_exactly_on_hover() -> None:
    assert time_at(AT, ZAGREB) == (
        '<time datetime="2026-11-21T07:00:05Z" title="2026-11-21 08:00:05 Europe/Zagreb · 2026-11-21 07:00:05 UTC">'
        "Sat 21 Nov, 08:00</time>"
    )
    in_utc = PageZone.at(ZoneInfo("UTC"), NOW)
    assert time_at(AT, in_utc) == (
        '<time datetime="2026-11-21T07:00:05Z" title="2026-11-21 07:00:05 UTC">Sat 21 Nov, 07:00</time>'
    )


def test_a_distance_and_a_day_say_the_instant_on_hover() -> None:
    assert 'title="2026-11-21 08:00:05 Europe/Zagreb · 2026-11-21 07:00:05 UTC">5 min ago<' in time_ago(AT, NOW, ZAGREB)
    assert '2026-11-21 07:00:05 UTC">Sat 21 Nov<' in time_day(AT, ZAGREB)


def test_what_is_in_utc_says_so_and_asks_for_no_zone_on_the_page() -> None:
    assert time_utc(AT, ZAGREB).endswith(">Sat 21 Nov, 07:00 UTC</time>")
    assert "<time datetime" not in time_utc(AT, ZAGREB)


def test_no_instant_is_a_dash() -> None:
    none = {time_at(None, ZAGREB), time_ago(None, NOW, ZAGREB), time_day(None, ZAGREB), time_utc(None, ZAGREB)}
    assert none == {'<span class="none">–</span>'}


def test_a_day_may_be_an_instant_or_a_text_of_programs() -> None:
    assert {day(AT, ZAGREB), day(AT.date(), ZAGREB), day("2026-11-21", ZAGREB)} == {"Sat 21 Nov"}
    assert day(None, ZAGREB) == day("", ZAGREB) == "–"


def test_a_card_has_a_heading_a_note_and_a_body() -> None:
    page = environment().from_string('{% call ui.card("h-x", "Days", "3 of <9>") %}<p>Body</p>{% endcall %}').render()
    assert '<section class="card" aria-labelledby="h-x">' in page
    assert '<h2 id="h-x">Days</h2><span class="text-secondary">3 of &lt;9&gt;</span></div>' in page
    assert '<div class="card-body">\n<p>Body</p>\n</div>' in page


def test_a_note_may_be_a_block_of_html() -> None:
    page = '{% set more %}<a href="/x">All</a>{% endset %}{% call ui.panel("h-x", "Days", more) %}Rows{% endcall %}'
    assert '</h2><a href="/x">All</a></div>' in environment().from_string(page).render()
