"""What a browser test does in the portal's database itself."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from app.db.session import Database


def in_database(database_url: str, act: Callable[[Database], Coroutine[Any, Any, None]]) -> None:
    """In a thread of its own: the browser's event loop runs in this one."""

    async def run() -> None:
        database = Database(database_url, pool_size=2)
        await act(database)
        await database.close()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    thread.join()
