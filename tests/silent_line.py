"""A line to the database that can fall silent: what a machine that vanished, or a network that swallows everything,
looks like."""

import asyncio
import ctypes
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

# A program for a socket (linux/filter.h) of one instruction:
# take 0 bytes of each packet, so the kernel drops it and confirms nothing.
_SO_ATTACH_FILTER = 26
_TAKE_NOTHING = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))


class SilentLine:
    """`url` is the database behind this line. While `silent` is set nothing passes, and no side is told. After
    `switch_off` not even the system confirms that something came, as with a machine without power; that lasts."""

    def __init__(self, url: str) -> None:
        self._to = conninfo_to_dict(url)
        self.silent, self.url = False, ""
        self._tasks: set[asyncio.Task[None]] = set()
        self.sockets: list[socket.socket] = []

    def address(self, port: int) -> str:
        named = {key: quote(str(self._to.get(key) or ""), safe="") for key in ("user", "password", "dbname")}
        who = f"{named['user']}:{named['password']}" if named["password"] else named["user"]
        return f"postgresql://{who}@127.0.0.1:{port}/{named['dbname']}?sslmode=disable"

    def switch_off(self) -> None:
        self.silent = True
        for one in self.sockets:
            program = struct.pack("HP", 1, ctypes.addressof(_TAKE_NOTHING))
            one.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sockets.append(writer.get_extra_info("socket"))
        host, port = str(self._to.get("host") or ""), self._to.get("port") or 5432
        if host.startswith("/"):
            there = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            there = await asyncio.open_connection(host, int(port))
        for source, sink in ((reader, there[1]), (there[0], writer)):
            task = asyncio.create_task(self._pass(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while piece := await source.read(65_536):
                if not self.silent:
                    sink.write(piece)
        except ConnectionError:
            pass
        finally:
            sink.close()

    async def end(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def silent_line(url: str) -> AsyncIterator[SilentLine]:
    line = SilentLine(url)
    server = await asyncio.start_server(line.take, "127.0.0.1", 0)
    line.sockets.extend(server.sockets)
    line.url = line.address(server.sockets[0].getsockname()[1])
    try:
        yield line
    finally:
        server.close()
        await line.end()
