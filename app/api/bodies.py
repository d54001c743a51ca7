"""Bodies of requests to the JSON APIs. How their JSON is read: app.bodies."""

from typing import Any, TypeVar

import msgspec
from litestar import Request

from app.bodies import fitted
from app.errors import InvalidBody
from app.outbound import strict_json
from app.web.errors.refusals import UnsupportedMediaType
from app.web.transport.body import FROM_ANYBODY

# The routers of the APIs set it; larger bodies get 413. The gate reads no more than this before it knows who calls.
LARGEST_BODY = FROM_ANYBODY
B = TypeVar("B", bound=msgspec.Struct)


async def read(kind: type[B], request: Request[Any, Any, Any]) -> B:
    """The body as `kind`. Nested structs refuse unknown keys by `forbid_unknown_fields`.

    Raises TooLarge, then UnsupportedMediaType, then InvalidBody.
    """
    return fitted(kind, await document(request))


async def document(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The body as one JSON object. Raises as `read`."""
    raw = await request.body()
    _check_media_type(request.headers.get("content-type", ""))
    if request.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType("Send the body as it is, not compressed.")
    try:
        decoded = strict_json.decode(raw)
    except strict_json.JsonError as error:
        raise InvalidBody(f"The body is not strict JSON: {error}.") from None
    if not isinstance(decoded, dict):
        raise InvalidBody("Send one JSON object.")
    return decoded


def _check_media_type(header: str) -> None:
    media_type, _, parameters = header.lower().partition(";")
    charset = parameters.strip().replace('"', "")
    if media_type.strip() != "application/json" or charset not in ("", "charset=utf-8"):
        raise UnsupportedMediaType("Send application/json in UTF-8.")
