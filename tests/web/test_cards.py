"""The marks that make a list's rows readable as cards."""

from app.web.cards import labelled

ROW = '<tr class="x"><td class="col-select"><input></td><td>A</td><td class="num">7</td><td><a>Do</a></td></tr>'


def test_the_first_named_cell_is_the_title_and_the_others_carry_their_labels() -> None:
    marked = '<tr class="x"><td class="col-select"><input></td><td data-title>A</td><td data-label="Seven" class="num">7</td><td data-acts><a>Do</a></td></tr>'
    assert labelled(f"\n{ROW}\n{ROW}", [None, "Name", "Seven", ""]) == f"\n{marked}\n{marked}"


def test_a_label_is_text() -> None:
    assert labelled("<tr><td>1</td><td>2</td></tr>", ["A", 'B "<i>']) == (
        '<tr><td data-title>1</td><td data-label="B &#34;&lt;i&gt;">2</td></tr>'
    )


def test_what_somebody_wrote_stays_as_it_is() -> None:
    assert (
        labelled("<tr><td>&lt;td&gt; &lt;tr&gt;</td></tr>", ["A"])
        == "<tr><td data-title>&lt;td&gt; &lt;tr&gt;</td></tr>"
    )


def test_cells_beyond_the_columns_and_columns_beyond_the_cells_are_left_alone() -> None:
    assert labelled("<tr><td>1</td><td>2</td></tr>", ["A"]) == "<tr><td data-title>1</td><td>2</td></tr>"
    assert labelled("<tr><td>1</td></tr>", ["A", "B"]) == "<tr><td data-title>1</td></tr>"
    assert labelled("", ["A"]) == ""
