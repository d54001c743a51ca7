"""What authors type or paste into a message's field, as the markup that messages have."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.surveys.authoring.content import sanitise
from app.surveys.authoring.typed import typed_message
from tests.surveys.authoring.test_content import PIECES


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("Hello", "Hello"),
        ("Hello\r\nyou", "Hello\nyou"),
        ("First.\n\nSecond,\nwith a line.", "<p>First.</p>\n<p>Second,<br>\nwith a line.</p>"),
        ("First.\r\n \t\r\n\r\nSecond.", "<p>First.</p>\n<p>Second.</p>"),
        ("Why:\n\n<ul><li>this</li></ul>\n\nEnd", "<p>Why:</p>\n<ul><li>this</li></ul>\n<p>End</p>"),
        ("<b>Read</b> <I class='x'>this</I>", "<strong>Read</strong> <em class='x'>this</em>"),
        ("<h1>Title</h1><div>Text</div><h6>Small</h6>", "<h3>Title</h3><p>Text</p><h4>Small</h4>"),
        ("<strike>no</strike><del>no</del><ins>yes</ins>", "<s>no</s><s>no</s><u>yes</u>"),
        ("a <bold> b <header>", "a <bold> b <header>"),
        ("One\n</blockquote>\ntwo", "One </blockquote> two"),
        ("  \n\n ", ""),
    ],
)
def test_other_names_and_blank_lines_become_the_markup_of_messages(typed: str, message: str) -> None:
    assert typed_message(typed) == message


def test_too_much_to_read_stays_as_it_is_and_is_refused_elsewhere() -> None:
    typed = "<b>" * 1001
    assert typed_message(typed) == typed


@example("<a>\n</blockquote>\n<a>")
@given(st.lists(PIECES, max_size=30).map("".join))
def test_what_was_typed_twice_is_what_was_typed_once(text: str) -> None:
    """A message that is stored, loaded into the form and changed back is the same message."""
    once = sanitise(typed_message(text)).html
    assert sanitise(typed_message(once)).html == once
