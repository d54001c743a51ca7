"""The typeface is the portal's own: the same on every machine, fetched by the letters of the page,
and nothing moves when it comes."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import SignedIn

pytestmark = pytest.mark.browser

_READY = "document.fonts.ready.then(() => undefined)"
_FETCHED = """() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
  .map(one => [new URL(one.name).pathname, one.transferSize])"""
_WRITE = """words => {
  const line = document.createElement('p');
  line.textContent = words;
  document.querySelector('main').append(line);
}"""
# The faces that stand in until the file has come, as far as this machine has one of their fonts, beside Inter in the
# same weight: the width of all words of the page in one line, and the height of a line.
_BESIDE_INTER = """async () => {
  const words = document.querySelector('main').innerText.replace(/\\s+/g, ' ').slice(0, 4000);
  const size = (family, weight) => {
    const line = document.body.appendChild(document.createElement('span'));
    line.textContent = words;
    Object.assign(line.style, {fontFamily: family, fontWeight: weight, fontSize: '14px', lineHeight: 'normal',
      display: 'inline-block', whiteSpace: 'nowrap', position: 'absolute', top: 0, left: 0});
    const {width, height} = line.getBoundingClientRect();
    line.remove();
    return [width, height];
  };
  const found = [];
  for (const face of document.fonts) {
    const weight = face.weight.endsWith('900') ? '600' : '400';
    if (!/ as /.test(face.family) || !await face.load().then(() => true, () => false)) continue;
    await document.fonts.load(`${weight} 14px Inter`);
    const [inter, other] = [size('Inter', weight), size(face.family, weight)];
    found.push([`${face.family} ${weight}`, other[0] / inter[0], Math.abs(other[1] - inter[1])]);
  }
  return found;
}"""


def _fonts(page: Page) -> list[str]:
    page.evaluate(_READY)
    return sorted(
        name.partition("/inter-")[2].partition("-wght")[0] for name, _ in page.evaluate(_FETCHED) if "inter-" in name
    )


def test_the_sign_in_page_takes_ten_requests_130_kb_and_the_latin_letters(page_of: SignedIn) -> None:
    page = page_of("")
    page.goto("/sign-in")
    assert _fonts(page) == ["latin"]
    fetched = page.evaluate(_FETCHED)
    assert len(fetched) <= 10
    assert all(size > 0 for _, size in fetched)
    assert sum(size for name, size in fetched if "inter-" not in name) <= 130_000
    assert sum(size for name, size in fetched if "inter-" in name) <= 50_000


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("Ελένη", ["greek"]),
        ("Милан", ["cyrillic"]),
        ("Łukasz", ["latin-ext"]),
        ("Nguyễn", ["vietnamese"]),
        ("山田 محمد ไทย", []),
    ],
)
def test_letters_of_other_scripts_fetch_their_own_file(page_of: SignedIn, words: str, more: list[str]) -> None:
    page = page_of("")
    page.goto("/sign-in")
    page.evaluate(_WRITE, words)
    assert _fonts(page) == sorted([*more, "latin"])


def test_words_and_figures_stand_in_inter_whatever_the_machine_has(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/people")
    page.evaluate(_READY)
    protocol = page.context.new_cdp_session(page)
    protocol.send("DOM.enable")
    protocol.send("CSS.enable")
    root = protocol.send("DOM.getDocument")["root"]["nodeId"]
    for part in ("h1", ".shell-group a span", "#people tbody td:nth-child(3)", "#people .pager-count", ".btn-primary"):
        node = protocol.send("DOM.querySelector", {"nodeId": root, "selector": part})["nodeId"]
        fonts = protocol.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        assert [(one["familyName"], one["isCustomFont"]) for one in fonts] == [("Inter", True)], part


def test_figures_are_of_one_width_and_words_as_they_were_drawn(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_transactions")
    width = "one => getComputedStyle(one).fontVariantNumeric"
    for part in ("tbody time", "tbody .mono", ".pager-count", "[type=date]"):
        assert page.locator(f"#main {part}").first.evaluate(width) == "tabular-nums", part
    for part in ("h1", "#main tbody a:not(:has(time))", "#main .btn"):
        assert page.locator(part).first.evaluate(width) == "normal", part


def test_what_stands_there_until_inter_has_come_is_as_wide_and_as_high(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/help/rules")
    found = page.evaluate(_BESIDE_INTER)
    if not found:
        pytest.skip("this machine has none of the fonts that stand in for Inter")
    for name, width, taller in found:
        assert width == pytest.approx(1, abs=0.03), name
        assert taller <= 1, name
