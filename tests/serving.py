"""The portal behind a real server on a real socket, for what the in-process client can't show."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from app.web.transport.wire import Wire


class Prompt(Wire):
    """Stops at once."""

    last_s = 0.0


@asynccontextmanager
async def served(app: Any, grace_s: int) -> AsyncIterator[tuple[str, uvicorn.Server]]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, lifespan="off", http=Prompt, timeout_graceful_shutdown=grace_s)
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve([listening]))
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event to wait for
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", server
        server.should_exit = True
        await asyncio.wait_for(task, 10)
