"""What became of punches that an act had judged again, as one sentence. Pure."""

from collections.abc import Mapping

from app.clock.outcomes import outcome_label
from app.counting import count


def judged_again(punches: int, outcomes: Mapping[str, int] | None) -> str:
    """`outcomes`: outcome → how many, "" for none yet; None while the import is to come."""
    if outcomes is None:
        are = count(punches, "punch is", "punches are")
        return f"{are} judged again by the import that just started; it may take a minute."
    if punches == 1:
        return f"1 punch was judged again: {', '.join(outcome_label(word or None) for word in outcomes)}."
    became = ", ".join(f"{number:,} × {outcome_label(word or None)}" for word, number in sorted(outcomes.items()))
    return f"{count(punches, 'punch was', 'punches were')} judged again: {became}."
