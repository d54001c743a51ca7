"""A fault is found in whatever look it shows, though the words of its page were measured on pages before."""

import pytest

from tests.browser.colours import Known
from tests.browser.conftest import SignedIn
from tests.browser.each_look import SHORTEN, WITHOUT_SHADOWS, looked_at

pytestmark = pytest.mark.browser

# Faults of each kind of look, in places of their own, and what is said of them.
_PLANT = """() => {
  const plant = (query, one, wrong) => {
    const media = matchMedia(query), right = one.style.cssText;
    const put = () => { one.style.cssText = media.matches ? wrong : right; };
    media.addEventListener('change', put);
    put();
  };
  const put = html => {
    const one = document.createElement('p');
    one.innerHTML = html;
    document.querySelector('#main').append(one);
    return one.firstElementChild;
  };
  const pale = 'forced-color-adjust: none; background: #777; color: #888';
  plant('(forced-colors: none) and (prefers-color-scheme: light)', put('<span>pale in the light</span>'), pale);
  plant('(forced-colors: none) and (prefers-color-scheme: light)', document.querySelector('#people tbody td:nth-child(3)'), pale);
  plant('(forced-colors: none) and (prefers-color-scheme: dark)', put('<span>pale in the dark</span>'), pale);
  plant('(forced-colors: active)', put('<span>pale in forced colours</span>'), pale);
  plant('(prefers-color-scheme: dark) and (forced-colors: none)', put('<a href="/">alike</a> some words beside a link'),
    'color: #888; text-decoration: none');
  plant('(max-width: 340px)', put('<button class="btn"><span>Shown</span></button>').firstElementChild, 'display: none');
  plant('(max-width: 400px) and (min-width: 350px)', put('<button class="btn"><span>Shown</span></button>').firstElementChild,
    'display: none');
  plant('(min-width: 700px) and (max-width: 800px)', put('<button class="btn"><span>Shown</span></button>').firstElementChild,
    'display: none');
  put('<span>long</span>').style.cssText = 'display: block; width: 600px';
  for (const one of [1, 2])
    plant('(max-width: 400px) and (min-width: 350px)', put(`<button class="btn btn-square">${one}</button>`),
      'position: fixed; z-index: 9; padding: 0; min-width: 0; min-height: 0; width: 12px; height: 12px; top: ' + 12 * one + 'px');
  put('<div role="region" aria-label="slides" tabindex="0"><p>wide</p></div>').style.cssText = 'overflow-x: auto; width: 90px';
  document.querySelector('[aria-label="slides"] p').style.width = '99px';
  put('<div role="region" aria-label="sliver" tabindex="0"><p>high</p></div>').style.cssText =
    'overflow-y: auto; width: 90px; height: 20px';
  document.querySelector('[aria-label="sliver"] p').style.cssText = 'height: 21px; margin: 0';
  put('<img src="/static/img/muster.svg">');
  put('<span id="main">twice</span>');
}"""
_PLANTED = sorted(
    [
        "color-contrast", "color-contrast", "in the dark: color-contrast", "in forced colours: color-contrast", "in the dark: link-in-text-block",
        "at 320 px: button-name", "at 360 px: button-name", "at 768 px: button-name",
        "wider than 320 px", "wider than 360 px", "wider than 577 px", "image-alt", "two have the id main",
        "at 360 px: target-size", "at 360 px: target-size",
        *(f"wider than its place at {width} px: slides" for width in (1920, 1440, 1280, 992, 768, 577, 360, 320)),
        "a scroll bar for a pixel, with script: sliver", "a scroll bar for a pixel, without script: sliver",
    ]
)  # fmt: skip


def test_a_fault_is_found_though_all_words_of_the_page_are_known(page_of: SignedIn) -> None:
    page, known = page_of("alice", color_scheme="light"), Known()
    for planted in (False, True):
        page.goto("/people")
        page.evaluate(SHORTEN)
        page.evaluate(WITHOUT_SHADOWS)
        if planted:
            page.evaluate(_PLANT)
        found = [fault.partition(": <")[0] for fault in looked_at(page, known)]
        assert len(known.light) > 10
        assert sorted(found) == (_PLANTED if planted else [])
