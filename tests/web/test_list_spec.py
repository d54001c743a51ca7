"""The marks that make a list's rows readable as cards."""

from app.web.list_spec import Column, card_marks


def columns(*labels: str) -> list[Column]:
    return [Column(f"c{at}", label, str) for at, label in enumerate(labels)]


def test_the_first_named_cell_is_the_title_and_the_others_carry_their_labels() -> None:
    assert card_marks(columns("", "Name", "Seven", "")) == {
        "c0": " data-acts",
        "c1": ' data-title role="rowheader"',
        "c2": ' data-label="Seven"',
        "c3": " data-acts",
    }


def test_the_column_that_says_whom_a_row_is_about_is_the_title_wherever_it_stands() -> None:
    code, person = Column("code", "Code", str), Column("person", "Person", str, titles=True)
    assert card_marks([code, person]) == {"code": ' data-label="Code"', "person": ' data-title role="rowheader"'}


def test_a_label_is_text() -> None:
    marked = card_marks(columns("A", 'B "<i>'))["c1"]
    assert marked == ' data-label="B &#34;&lt;i&gt;"'
    assert f"<td{marked}>" == '<td data-label="B &#34;&lt;i&gt;">'


def test_a_list_may_have_no_columns() -> None:
    assert card_marks([]) == {}
