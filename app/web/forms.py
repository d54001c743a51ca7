"""The one way to make a form: each error at its field, and nothing that was typed is lost. Fields: fields.py.

FORM = Form(Text("name", "Name", required=True, longest=200), Choice("type", "Type", {"staff": "Staff"}))
bound = FORM.read(await ctx.form())      # or FORM.fill({"name": "Ada"}) for a first view
if not bound.ok: return await page(ctx, "host/people_edit.html", status=422, form=bound)
bound["name"]
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from litestar.datastructures import FormMultiDict

from app.errors import Conflict, FieldError, Invalid
from app.web.fields import Field, Wrong
from app.web.merging import Stale
from app.wording.marked import sentence, worded

BOTH = "You and another person both changed this. Your text will be saved, unless you choose theirs above."


class Form:
    def __init__(self, *fields: Field) -> None:
        self.fields = {item.name: item for item in fields}

    def read(self, posted: FormMultiDict) -> "Bound":
        """Every field's value or its error. What was typed is kept in both cases."""
        bound = Bound(self.fields)
        for name, item in self.fields.items():
            raw = [value for value in posted.getall(name, []) if isinstance(value, str)]
            bound.shown[name] = raw if item.kind == "choices" else (raw[-1] if raw and item.kind != "password" else "")
            if item.kind == "flag":
                bound.shown[name] = bool(raw)
            try:
                bound.values[name] = item.read(raw)
            except Wrong as wrong:
                bound.errors[name] = wrong.message
        return bound

    def fill(self, values: Mapping[str, Any] | None = None) -> "Bound":
        """The form as a page first shows it."""
        values = values or {}
        bound = Bound(self.fields)
        for name, item in self.fields.items():
            bound.values[name] = values.get(name)
            bound.shown[name] = item.show(values.get(name))
        return bound


@dataclass
class Bound:
    """A form with what was typed (`shown`), what it means (`values`) and what is wrong (`errors`). An edit form carries
    the values that it was made from as `base`, and is `stale` when somebody else changed them meanwhile
    (app.web.edits)."""

    fields: Mapping[str, Field]
    shown: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    base: str = ""
    stale: Stale | None = None

    @property
    def ok(self) -> bool:
        return not self.errors and not self.stale

    @property
    def status(self) -> int:
        """The status of the page that shows a refused form."""
        return Conflict.status if self.stale else Invalid.status

    def at(self, name: str) -> str | None:
        """The message at a field: its error, or that somebody else changed it too."""
        contested = {one.name for one in self.stale.lines if one.contested} if self.stale else set()
        return self.errors.get(name) or (BOTH if name in contested else None)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def refuse(self, name: str, message: str) -> None:
        """Puts an error at a field; the name of no field puts it above the form."""
        self.errors.setdefault(name, message)

    def absorb(self, refusal: Invalid) -> None:
        """Puts the details of a refusal at their fields."""
        for detail in refusal.details or (FieldError("", refusal.message),):
            self.refuse(detail.field, detail.message)

    @property
    def summary(self) -> list[tuple[str, str]]:
        """What is wrong, for the box above the form: (field, sentence) in the order of the form, each with its label. A
        sentence that belongs to no field comes first, under "", without a link."""
        general = [("", text) for name, text in self.errors.items() if name not in self.fields]
        at_fields = [(item, self.errors[item.name]) for item in self if item.name in self.errors]
        return general + [
            (item.name, worded("{field}: {problem}", field=sentence(item.label), problem=sentence(problem)))
            for item, problem in at_fields
        ]

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields.values())
