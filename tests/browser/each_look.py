"""One page of the portal in every look: by each rule of axe-core where its answer may differ, and at each width."""

from collections.abc import Iterator, Sequence

from playwright.sync_api import Page

from app.clock.outcomes import OUTCOMES
from tests.browser.colours import Known, violations_of_new_looks
from tests.browser.conftest import DESK
from tests.browser.looking import SHELL, apart_from_shell, double_ids, turn_dark
from tests.chromium import COLOURS, CONTRAST, SIZES, sticks_out, violations

PHONE = {"width": 360, "height": 760}
WIDE = {"width": 1920, "height": 1080}
# Rows are alike: some of them are enough to look at, and hundreds take seconds.
SHORTEN = "for (const row of document.querySelectorAll('tbody tr:nth-child(n+7)')) row.remove()"
# The shadows at the edges of a table are gradients, before which axe-core measures no contrast.
# Between them lies this paper.
WITHOUT_SHADOWS = (
    "for (const one of document.querySelectorAll('.table-scroll')) one.style.background = 'var(--m-paper)'"
)
# What is wider than its frame is scrolled in there: the page itself does not show it.
SLIDES = """[...document.querySelectorAll('main *')].filter(one =>
  one.clientWidth && one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX)
).map(one => one.getAttribute('aria-label') ?? one.className ?? one.tagName).join('; ')"""
# What has a scroll bar beside it for a pixel or two.
_SLIVERS = """[...document.querySelectorAll('main *')].filter(one => {
  const beyond = one.scrollHeight - one.clientHeight;
  return one.clientHeight && beyond > 0 && beyond < 3 && one.offsetWidth - one.clientWidth > 5
    && /auto|scroll/.test(getComputedStyle(one).overflowY);
}).map(one => one.getAttribute('aria-label') ?? one.className ?? one.tagName).join('; ')"""
_SCRIPTLESS = "document.documentElement.classList.toggle('js')"
# The tables of charts are folded away: a person opens them.
_UNFOLD = "for (const one of document.querySelectorAll('details.chart-table')) one.open = true"
# From the laptop to the phone: above, at and below each width at which pages change their shape.
_WIDTHS = (1280, 992, 768, 577, PHONE["width"], 320)
_LOOKED_AT = (320, PHONE["width"], 768)
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
_LENGTHEN = (
    f"for (const one of document.querySelectorAll('.list [data-title] a:not(:has(time))')) one.textContent = '{LONG}'"
)
# The rows that happen to be there may all have short ones. A laptop shows a table that has no room as cards, too.
_LONG_STATES = f"""for (const one of document.querySelectorAll('.list tbody .badge'))
  one.textContent = '{max((one.label for one in OUTCOMES.values()), key=len)}'"""
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def looked_at_whole(page: Page) -> Iterator[str]:
    """With the shell that all pages have, and every word by every rule."""
    yield from violations(page)
    yield from _at_a_desk(page)
    for kind in _kinds_of_colours(page):
        yield from (f"{kind}: {fault}" for fault in violations(page, COLOURS))
    yield from _at_each_width(page, apart_from=())


def looked_at(page: Page, known: Known) -> Iterator[str]:
    """Without the shell, and only words that look as none did before."""
    yield from double_ids(page)
    with apart_from_shell(page):
        yield from violations(page, apart_from=SHELL, without=CONTRAST)
        yield from violations_of_new_looks(page, known.light, CONTRAST)
        yield from _at_a_desk(page)
        for kind, seen in zip(_kinds_of_colours(page), (known.dark, known.forced), strict=True):
            yield from (f"{kind}: {fault}" for fault in violations_of_new_looks(page, seen))
        yield from _at_each_width(page, apart_from=SHELL)


def _at_a_desk(page: Page) -> Iterator[str]:
    page.evaluate(_UNFOLD)
    if slid := page.evaluate(SLIDES):
        yield f"wider than its place at {DESK['width']} px: {slid}"
    for how in ("with", "without"):
        if slid := page.evaluate(_SLIVERS):
            yield f"a scroll bar for a pixel, {how} script: {slid}"
        page.evaluate(_SCRIPTLESS)


def _kinds_of_colours(page: Page) -> Iterator[str]:
    """Beside the light one. What a theme changes are colours. The forced ones are those of a dark system, which differ
    most from the colours of the sheets."""
    turn_dark(page)
    yield "in the dark"
    page.emulate_media(forced_colors="active")
    page.evaluate(NEXT_FRAME)
    yield "in forced colours"
    page.emulate_media(forced_colors="none", color_scheme="light")


def _at_each_width(page: Page, apart_from: Sequence[str]) -> Iterator[str]:
    page.evaluate(_LENGTHEN)
    for width in (WIDE["width"], *_WIDTHS):
        page.set_viewport_size({"width": width, "height": PHONE["height"]})
        if width <= PHONE["width"]:
            page.evaluate(_LONG_STATES)
        if sticks_out(page):
            yield f"wider than {width} px"
        page.evaluate(NEXT_FRAME)
        if slid := page.evaluate(SLIDES):
            yield f"wider than its place at {width} px: {slid}"
        if width in _LOOKED_AT:
            yield from (f"at {width} px: {fault}" for fault in violations(page, SIZES, apart_from))
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
