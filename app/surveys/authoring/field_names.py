"""What people call the fields of a definition, for messages at them. Pure."""

from typing import Final

NAMES: Final = {
    "title": "Title",
    "type": "Type",
    "enforcement": "Enforcement",
    "message": "Message",
    "closing_html": "Closing words",
    "anonymity": "Anonymity",
    "split": "Split",
    "category": "Category",
    "user_types": "User types",
    "tenants": "Tenants",
    "starts_at": "Starts",
    "ends_at": "Ends",
    "snooze_hours": "Snooze",
    "cooldown_days": "Cooldown",
    "max_prompts": "Max prompts",
    "questions": "Questions",
    "language": "Language",
    "translations": "Translations",
    "repeat": "Ask again",
    "remind_days": "Remind",
}
_PARTS: Final = {
    "label": "text",
    "low_label": "words for the low end",
    "high_label": "words for the high end",
    "min": "smallest number",
    "max": "largest number",
    "page": "new page",
    "show_if": "condition",
}
_REPEAT: Final = {
    "every": "how often",
    "days": "days",
    "times": "times",
    "open_days": "open for",
    "starts_on": "first round",
}


def name_of(field: str) -> str:
    """The name that people use: "Title", "Question 2, options", "Translation (de): Question 2, options"."""
    first, *rest = field.split(".")
    if first == "translations" and rest:
        return f"Translation ({rest[0]})" + (f": {name_of('.'.join(rest[1:]))}" if rest[1:] else "")
    if first == "questions" and rest and rest[0].isdecimal():
        part = f", {_PARTS.get(rest[1], rest[1])}" if len(rest) > 1 else ""
        return f"Question {int(rest[0]) + 1}{part}"
    part = f", {_REPEAT[rest[0]]}" if first == "repeat" and rest and rest[0] in _REPEAT else ""
    return f"{NAMES.get(first, first)}{part}"
