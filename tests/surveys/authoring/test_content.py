"""Messages: what stays of the markup, what is told to be gone, the plain text;
and the canonical form that is hashed."""

import hashlib
import json
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.surveys.authoring import content
from app.surveys.authoring.content import REL, TAGS, plain_text, sanitise
from app.surveys.authoring.definition import QuestionDefinition

LINK = f'rel="{REL}"'

KEPT = [
    "<p>Hello <strong>you</strong>, <em>all</em> of <u>you</u>, <s>or</s> <code>not</code></p>",
    "<h3>One</h3><h4>Two</h4><ul><li>a</li><li>b</li></ul><ol><li>c</li></ol><blockquote>d</blockquote>",
    "one<br>two",
    f'<a href="https://example.org/a?b=1&amp;c=2#d" title="Where" {LINK}>x</a>',
    f'<a href="mailto:ann@example.org" {LINK}>x</a>',
    f'<a href="http://example.org" {LINK}>x</a>',
    "1 &lt; 2 &amp;&amp; 3 &gt; 2",
    "fish&nbsp;&amp;&nbsp;chips &copy; &#9731;",
    "Ünïcödé, 日本語, עברית, 🍲",
    "",
]


@pytest.mark.parametrize("message", KEPT)
def test_what_is_allowed_stays_as_it_is_and_nothing_is_reported(message: str) -> None:
    assert sanitise(message) == content.Sanitised(message, ())


STRIPPED = [
    # (message, what is left, what is told)
    ("<b>bold</b> and <span>plain</span>", "bold and plain", ("<b>", "<span>")),
    ("a<script>alert(1)</script>b", "ab", ("<script>",)),
    ("a<SCRIPT src=//x>alert(1)</sCrIpT >b", "ab", ("<script>",)),
    ("a<script>alert(1)", "a", ("<script>",)),
    ("a<style>p { color: red }</style>b", "ab", ("<style>",)),
    ("<p>a<style>x</p>", "<p>a</p>", ("<style>",)),
    ("<scr<script>x</script>ipt>y", "xipt&gt;y", ("<script>",)),
    ("<p onclick='go()' style=\"color:red\" class=x id=y>a</p>", "<p>a</p>", ("onclick of <p>", "style of <p>", "class of <p>", "id of <p>")),
    ("<img src=x onerror=alert(1)>a", "a", ("<img>",)),
    ("<iframe src='https://x'></iframe>a", "a", ("<iframe>",)),
    ("<svg><script>alert(1)</script></svg>a", "a", ("<svg>", "<script>")),
    ("<svg onload=alert(1)>a", "a", ("<svg>",)),
    ("<math><mtext><table><mglyph><style><img src=x></style></table></mtext></math>a", "a", ("<math>", "<mtext>", "<table>", "<mglyph>", "<style>", "<img>")),
    ("<form action=x><input name=y><button>Go</button></form>", "Go", ("<form>", "<input>", "<button>")),
    ("<textarea><p>a</textarea>", "<p>a</p>", ("<textarea>",)),
    ("a<!-- secret -->b", "ab", ("a comment",)),
    ("a<!--[if IE]><p>x</p><![endif]-->b", "ab", ("a comment",)),
    ("<a href='https://x.example' target=_blank>x</a>", f'<a href="https://x.example" {LINK}>x</a>', ("target of <a>",)),
    ("<a href='https://x.example' rel=opener>x</a>", f'<a href="https://x.example" {LINK}>x</a>', ()),
    ("<p>open <strong>both", "<p>open <strong>both</strong></p>", ()),
    ("<em><strong>crossed</em> over</strong>", "<em><strong>crossed</strong></em><strong> over</strong>", ()),
    ("a < b and <c", "a &lt; b and &lt;c", ()),
    ("&bogus; &amp", "&amp;bogus; &amp;amp", ()),
    ("  line\r\nbreak\rhere  ", "line\nbreak\nhere", ()),
]  # fmt: skip


@pytest.mark.parametrize(("message", "left", "told"), STRIPPED)
def test_the_rest_goes_and_is_reported(message: str, left: str, told: tuple[str, ...]) -> None:
    assert sanitise(message) == content.Sanitised(left, told)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "java&#115;cript:alert(1)",
        "java&#x73;cript&colon;alert(1)",
        "&#106avascript:alert(1)",
        "java&Tab;script:alert(1)",
        "javascript&NewLine;:alert(1)",
        "vbscript:x",
        "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "file:///etc/passwd",
        "ftp://example.org",
        "//example.org/x",
        "/surveys/list",
        "page.html",
        "#here",
        "https&#58;//example.org",
        "https:example.org",
        "http://",
        "https://a b.example",
        "",
    ],
)
def test_a_link_needs_a_plain_http_https_or_mail_address(address: str) -> None:
    cleaned = sanitise(f'<a href="{address}">x</a>')
    assert cleaned.html == "<a>x</a>"
    assert cleaned.stripped[-1].startswith("link to ")


def test_a_title_of_a_link_can_hold_any_sign_and_no_markup() -> None:
    cleaned = sanitise("""<a href="https://x.example/?a='b" title='"><script>a&b'>x</a>""").html
    assert cleaned == (f"""<a href="https://x.example/?a='b" title="&quot;>&lt;script>a&amp;b" {LINK}>x</a>""")
    assert sanitise(cleaned).html == cleaned
    assert plain_text(cleaned) == "x"


def test_a_message_that_changes_at_each_cleaning_is_kept_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "_MOST_ROUNDS", 1)
    assert sanitise("<p>1 &lt; <b>2</b></p>") == content.Sanitised(
        "1 &lt; 2", ("<b>", "all markup, because it could not be read")
    )


def test_a_reference_of_thousands_of_digits_is_text() -> None:
    digits = "9" * 5000
    assert sanitise(f"&#{digits};").html == f"&amp;#{digits};"
    assert "9" in sanitise(f'<a href="https://x.example/&#{digits};">x</a>').html


def test_what_composes_only_after_stripping_is_stored_composed() -> None:
    assert sanitise("e<b></b>\u0301").html == "é"


PIECES = st.sampled_from(
    [
        *(f"<{tag}>" for tag in sorted(TAGS)),
        *(f"</{tag}>" for tag in sorted(TAGS)),
        *(
            "<script>",
            "</script>",
            "<style>",
            "</style>",
            "<table>",
            "<td>",
            "<svg>",
            "<math>",
            "<noscript>",
            "<title>",
        ),
        *(
            "<template>",
            "<select>",
            "<plaintext>",
            "</p",
            "<p",
            "<",
            ">",
            "&",
            "&lt;",
            "&#x3c;",
            "&amp;",
            "'",
            '"',
            "=",
        ),
        *(
            '<a href="https://x.example/?a&b">',
            "<a href='javascript:x'>",
            '<a title="<p>">',
            "<!--",
            "-->",
            "<![CDATA[",
        ),
        *("]]>", "<?php", "\u0338", "\u0301", "\n", " ", "x", "</a href=x>", "<a/b=c>", "<p/onclick=x>", "<br/>"),
    ]
)
MESSAGES = st.lists(PIECES | st.text(max_size=5), max_size=25).map("".join)


class Tags(HTMLParser):
    """What a reader of HTML would make of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.addresses: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(tag, name) for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name == "href"]


@settings(max_examples=70, deadline=None)
@given(MESSAGES)
@example("<a><p><a>")
@example("<p>\u0338x</p>")
@example("<em><p><strong></em><a><ul><a><li></strong>")
def test_sanitising_twice_changes_nothing_and_only_the_allowed_is_left(message: str) -> None:
    cleaned = sanitise(message).html
    assert sanitise(cleaned).html == cleaned
    left = Tags(cleaned)
    assert left.tags <= TAGS
    assert left.attributes <= {("a", "href"), ("a", "title"), ("a", "rel")}
    assert all(address.startswith(("https://", "http://", "mailto:")) for address in left.addresses)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\nTwo"),
        ("one<br>two", "one\ntwo"),
        ("<ul><li>a</li><li>b</li></ul>after", "a\nb\nafter"),
        ("<h3>Head</h3>body", "Head\nbody"),
        ("w<em>or</em>d &amp; <a href='https://x.example' title='a>b'>link</a>", "word & link"),
        ("1 &lt; 2", "1 < 2"),
        ("", ""),
    ],
)
def test_the_plain_text_is_the_message_without_tags(message: str, text: str) -> None:
    assert plain_text(sanitise(message).html) == text


@pytest.mark.parametrize(
    "message",
    ["x" * (content.LONGEST_RAW + 1), "<em>" * (content.MOST_MARKUP + 1), "<p " + "a " * 2000 + ">", "<" + "a" * 2600],
)
def test_what_takes_too_long_to_read_is_known_unread(message: str) -> None:
    assert content.too_much_to_read(message)


def test_an_ordinary_long_message_is_not_too_much() -> None:
    message = (
        "<p>A paragraph of a consent, long enough to be read by no one, with a <strong>word</strong> in it.</p>" * 195
    )
    assert len(message) < 20_000
    assert not content.too_much_to_read(message)
    assert sanitise(message).html == message


@pytest.mark.parametrize("text", ["a\x00b", "\x07", "\x1b[0m", "\x7f", "\x85", "\r", "\ud800", "a\udfff"])
def test_control_characters_and_half_pairs_cannot_be_kept(text: str) -> None:
    assert content.unkeepable(text)


def test_line_breaks_tabs_and_every_other_character_can_be_kept() -> None:
    assert not content.unkeepable("a\n\tb \u00a0\u200d\ufffd\U0001f372")


def test_the_canonical_form_is_rfc_8785_and_holds_the_content_alone() -> None:
    asked = [QuestionDefinition(None, "Wie geht's?", "single_choice", ("gut", "€"), required=True)]
    text = content.canonical(title="T", message="<p>ä</p>", type="poll", enforcement="optional", questions=asked)
    assert text == (
        '{"enforcement":"optional","message":"<p>ä</p>","questions":[{"label":"Wie geht\'s?","options":["gut","€"],'
        '"required":true,"type":"single_choice"}],"title":"T","type":"poll"}'
    )
    assert json.loads(text)["questions"][0]["options"] == ["gut", "€"]
    assert content.content_hash(text) == hashlib.sha256(text.encode()).hexdigest()


def test_closing_words_stand_in_the_canonical_form_only_where_there_are_some() -> None:
    fields: dict[str, Any] = {"title": "T", "message": "", "type": "poll", "enforcement": "optional", "questions": []}
    without = '{"enforcement":"optional","message":"","questions":[],"title":"T","type":"poll"}'
    assert content.canonical(**fields, closing_html="") == without
    assert content.canonical(**fields, closing_html="<p>Bye</p>") == f'{{"closing_html":"<p>Bye</p>",{without[1:]}'
