"""Reading an answer's body under a cap, unpacked here so that a bomb never unfolds. Knows nothing of JSON."""

import zlib

import httpx

from app.outbound.errors import SHAPE, OutboundError, network_failure
from app.outbound.spellings import shortened

_KNOWN = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}


async def read_body(response: httpx.Response, cap_bytes: int) -> bytes:
    """The decoded body. Raises OutboundError: TC-SHAPE when over the cap, TC-NET when its packing is broken or cut."""
    announced = response.headers.get("content-length", "")
    if announced.isdigit() and int(announced[:18]) > cap_bytes:
        raise _too_large(cap_bytes, response.status_code)
    body = _Body(_window_bits(response), cap_bytes, response.status_code)
    async for chunk in response.aiter_raw():
        body.feed(chunk)
    return body.finish()


def ends_with_the_connection(response: httpx.Response) -> bool:
    """True when only the closing of the connection marks the end, so that a cut body looks like a whole one."""
    return "content-length" not in response.headers and "transfer-encoding" not in response.headers


def _window_bits(response: httpx.Response) -> int | None:
    encoding = response.headers.get("content-encoding", "").lower()
    if encoding not in _KNOWN:
        raise OutboundError(
            SHAPE,
            f"The answer is compressed as {shortened(encoding, 40)!r}, which the request did not accept.",
            status=response.status_code,
        )
    return _KNOWN[encoding]


def _too_large(cap_bytes: int, status: int) -> OutboundError:
    return OutboundError(SHAPE, f"The answer is larger than {cap_bytes // 1024:,} KiB.", status=status)


class _Body:
    def __init__(self, window_bits: int | None, cap_bytes: int, status: int) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._cap = cap_bytes
        self._status = status
        self._window_bits = window_bits or 0
        self._unpacker = zlib.decompressobj(window_bits) if window_bits is not None else None
        self._started = False

    def feed(self, chunk: bytes) -> None:
        if self._unpacker is None:
            self._keep(chunk)
            return
        try:
            self._unpack(self._unpacker, chunk)
        except zlib.error:
            raise network_failure("The compressed answer is damaged.") from None

    def finish(self) -> bytes:
        if self._unpacker is not None and self._started and not self._unpacker.eof:
            raise network_failure("The compressed answer is cut off.")
        return b"".join(self._parts)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._cap:
            raise _too_large(self._cap, self._status)
        self._parts.append(part)

    def _unpack(self, unpacker: "zlib._Decompress", data: bytes) -> None:
        self._started = True
        while data:
            if unpacker.eof:  # gzip may come in several members
                self._unpacker = unpacker = zlib.decompressobj(self._window_bits)
            # never more than one byte over the cap is unfolded
            self._keep(unpacker.decompress(data, self._cap - self._size + 1))
            data = unpacker.unconsumed_tail or unpacker.unused_data
