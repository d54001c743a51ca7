"""The success envelope of the JSON APIs and the types its values are bounded by.
Failures: app.web.errors.answers.envelope."""

from typing import Annotated, Any

import msgspec
from litestar import Response
from litestar.enums import MediaType

from app.texts import UUID_FORM

Id = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Code = Annotated[str, msgspec.Meta(max_length=200)]
Line = Annotated[str, msgspec.Meta(max_length=1000)]
Prose = Annotated[str, msgspec.Meta(max_length=20_000)]
Instant = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$", max_length=27)]
Local = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?$", max_length=26)]
Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\d$", max_length=10)]

# For a body: msgspec's own UUID also accepts 32 digits without hyphens.
Uid = Annotated[str, msgspec.Meta(pattern=UUID_FORM, max_length=36, extra_json_schema={"format": "uuid"})]


class Meta(msgspec.Struct, kw_only=True):
    """`meta` of a list, without the fields that the list does not offer."""

    page: Annotated[int, msgspec.Meta(ge=1, le=2**31)] | msgspec.UnsetType = msgspec.UNSET
    per_page: Annotated[int, msgspec.Meta(ge=1, le=500)] | msgspec.UnsetType = msgspec.UNSET
    total: Count | msgspec.UnsetType = msgspec.UNSET
    pages: Count | msgspec.UnsetType = msgspec.UNSET
    next_cursor: Annotated[str, msgspec.Meta(max_length=500)] | msgspec.UnsetType | None = msgspec.UNSET
    next_updated_since: Instant | msgspec.UnsetType = msgspec.UNSET
    pending: Count | msgspec.UnsetType = msgspec.UNSET


def answer(data: Any, *, meta: msgspec.Struct | None = None, status: int = 200) -> Response[bytes]:
    """`{"success": true, "data": …}`, with `meta` on lists."""
    body: dict[str, Any] = {"success": True, "data": data}
    if meta is not None:
        body["meta"] = meta
    return Response(msgspec.json.encode(body), status_code=status, media_type=MediaType.JSON)
