"""A survey's message under its toolbar: by mouse, by keyboard, pasted into, as HTML;
and one that is not touched keeps its bytes."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignedIn
from tests.chromium import violations

pytestmark = pytest.mark.browser
TEXT, SOURCE = "#f-message-text", "#f-message"


def write(page: Page) -> None:
    page.goto("/surveys/new")
    page.locator("#f-title").fill("Photo consent")
    page.locator("#f-label-q1").fill("Do you agree?")
    page.get_by_label("Client").check()  # no person is: what other tests see stays as it was


def press(page: Page, name: str) -> None:
    page.get_by_role("toolbar", name="Message: formatting").get_by_role("button", name=name, exact=True).click()


def message(page: Page) -> str:
    """What would be sent."""
    return page.locator(SOURCE).input_value()


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(re.compile("/surveys/edit/"))
    expect(page.locator("#flashes")).to_contain_text("Saved")


def test_a_message_is_formatted_with_the_toolbar_and_seen_meanwhile(page_of: SignedIn) -> None:
    page = page_of("alice")
    write(page)
    page.get_by_text("Message", exact=True).click()
    expect(page.locator(TEXT)).to_be_focused()
    press(page, "Bold")
    page.keyboard.type("Read")
    press(page, "Bold")
    page.keyboard.type(" <this>")
    page.keyboard.press("Enter")
    page.keyboard.type("one")
    press(page, "Bulleted list")
    assert message(page) == "<p><strong>Read</strong> &lt;this&gt;</p>\n<ul><li>one</li></ul>"
    expect(
        page.get_by_role("toolbar", name="Message: formatting").get_by_role("button", name="Bulleted list")
    ).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#preview-frame").get_by_role("listitem")).to_have_text("one")
    press(page, "Undo")
    assert message(page) == "<p><strong>Read</strong> &lt;this&gt;</p>\n<p>one</p>"
    press(page, "Heading")
    assert message(page).endswith("<h3>one</h3>")
    press(page, "Heading")
    page.keyboard.press("Shift+Home")
    press(page, "Link")
    address = page.locator("#f-message-address")
    address.fill("javascript:alert(1)")
    address.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="begins with https://")).to_be_visible()
    expect(page).to_have_url(re.compile("/surveys/new"))
    address.fill("https://rules.example/photos?a=1&b=2")
    address.press("Enter")
    assert message(page).endswith('<p><a href="https://rules.example/photos?a=1&amp;b=2">one</a></p>')
    assert violations(page) == []
    save(page)
    link = page.locator("#preview-frame").get_by_role("link", name="one")
    expect(link).to_have_attribute("target", "_blank")
    expect(link).to_have_attribute("rel", re.compile("noopener"))


def test_the_toolbar_is_one_stop_of_the_tab_key_and_arrows_go_through_it(page_of: SignedIn) -> None:
    page = page_of("alice")
    write(page)
    bar = page.get_by_role("toolbar", name="Message: formatting")
    bar.get_by_role("button", name="Bold").focus()
    page.keyboard.press("ArrowRight")
    expect(bar.get_by_role("button", name="Italic")).to_be_focused()
    page.keyboard.press("End")
    expect(bar.get_by_role("button", name="HTML")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(bar.get_by_role("button", name="Bold")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator(TEXT)).to_be_focused()
    page.keyboard.press("Control+i")
    page.keyboard.type("so")
    assert message(page) == "<p><em>so</em></p>"


def test_what_is_pasted_keeps_only_what_a_message_may_have(page_of: SignedIn) -> None:
    page = page_of("alice")
    write(page)
    paste(
        page,
        """<h1 style="color:red">Rules</h1><p onclick="x()">Read <b>all</b> of it.<script>alert(1)</script>
        <img src="https://x.example/a.png"><a href="javascript:alert(1)">here</a></p>""",
    )
    expect(page.locator(SOURCE)).to_have_value(re.compile("Rules"))
    sent = message(page)
    assert "<h3>Rules</h3>" in sent
    assert "<strong>all</strong>" in sent
    assert not re.search("script|style|onclick|img|h1", sent)
    assert violations(page) == []


# As Word, Google Docs and LibreOffice put the same text on the clipboard.
WORD = """<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style><!-- p.MsoNormal {margin:0cm} --></style></head><body>
<h1>Rules<o:p></o:p></h1><p class=MsoNormal>Read <b>all</b><i> of it</i><o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p>
<p class=MsoListParagraphCxSpFirst style='text-indent:-18.0pt;mso-list:l0 level1 lfo1'><![if !supportLists]><span
style='font-family:Symbol'><span style='mso-list:Ignore'>·<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;
</span></span></span><![endif]>First<o:p></o:p></p><p class=MsoListParagraphCxSpLast style='mso-list:l0 level1 lfo1'><span
style='mso-list:Ignore'>·<span>&nbsp;</span></span>Second<o:p></o:p></p></body></html>"""
GOOGLE = """<meta charset='utf-8'><b style="font-weight:normal;" id="docs-internal-guid-1"><h1 dir="ltr"><span style="font-weight:400;">
Rules</span></h1><p dir="ltr"><span style="font-weight:400;">Read </span><span style="font-weight:700;">all</span><span
style="font-weight:400;font-style:italic;"> of it</span></p><br /><ul><li dir="ltr"><p dir="ltr" role="presentation"><span>First
</span></p></li><li dir="ltr"><p dir="ltr"><span>Second</span></p></li></ul></b><br class="Apple-interchange-newline">"""
LIBRE = """<html><head><style type="text/css">p { line-height: 115% }</style></head><body lang="en-US"><h1 class="western">Rules</h1>
<p style="line-height: 100%">Read <b>all</b><i> of it</i></p><ul><li><p style="line-height: 100%">First</p></li><li><p>Second</p></li>
</ul></body></html>"""


def paste(page: Page, html: str) -> None:
    page.locator(TEXT).focus()
    page.evaluate(
        """html => {
          const data = new DataTransfer();
          data.setData("text/html", html);
          data.setData("text/plain", "plain");
          document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        html,
    )


@pytest.mark.parametrize("html", [WORD, GOOGLE, LIBRE], ids=["Word", "Google Docs", "LibreOffice"])
def test_what_comes_from_a_word_processor_keeps_its_lists_and_what_was_bold(page_of: SignedIn, html: str) -> None:
    page = page_of("alice")
    write(page)
    paste(page, html)
    expect(page.locator(SOURCE)).to_have_value(re.compile("Rules"))
    assert re.sub(r"\s+", " ", message(page)).replace("First ", "First").replace("<h3> ", "<h3>") == (
        "<h3>Rules</h3> <p>Read <strong>all</strong><em> of it</em></p> <ul><li>First</li><li>Second</li></ul>"
    )


def test_the_rows_of_a_pasted_table_become_lines(page_of: SignedIn) -> None:
    page = page_of("alice")
    write(page)
    paste(page, "<table><tr><th><p>When</p></th><th>Where</th></tr><tr><td>Monday</td><td>Hall</td></tr></table>")
    expect(page.locator(SOURCE)).to_have_value("<p>When | Where</p>\n<p>Monday | Hall</p>")


def test_html_is_written_by_hand_where_somebody_likes_to(page_of: SignedIn) -> None:
    page = page_of("alice")
    write(page)
    press(page, "HTML")
    expect(page.locator(SOURCE)).to_be_focused()
    page.keyboard.type("<p>By <u>hand</u></p>")
    press(page, "HTML")
    expect(page.locator(f"{TEXT} u")).to_have_text("hand")
    assert message(page) == "<p>By <u>hand</u></p>"


def test_an_untouched_message_keeps_its_bytes(page_of: SignedIn) -> None:
    """It was written as HTML, in a way in which no editor would write it."""
    odd = "<p>One</p>  <p>two <strong>three</strong></p><p></p><p>4 &gt; 3</p>"
    page = page_of("alice")
    write(page)
    press(page, "HTML")
    page.keyboard.type(odd)
    save(page)
    expect(page.locator(TEXT)).to_contain_text("three")
    # As extensions of the browser do, which check what is written.
    page.locator(f"{TEXT} p").first.evaluate("one => one.setAttribute('data-checked', '1')")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert message(page) == odd
    expect(page.locator("[data-unsaved]")).to_be_hidden()
    page.locator("#f-category").fill("Photos")
    save(page)
    assert message(page) == odd
    page.locator(TEXT).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("!")
    assert message(page) == "<p>One</p>\n<p>two <strong>three</strong></p>\n<p>4 &gt; 3!</p>"


def test_without_script_the_plain_field_takes_blank_lines_as_paragraphs(page_of: SignedIn) -> None:
    page = page_of("alice", java_script_enabled=False)
    write(page)
    page.locator(SOURCE).fill("First.\n\n<b>Second.</b>")
    save(page)
    assert message(page) == "<p>First.</p>\n<p><strong>Second.</strong></p>"
