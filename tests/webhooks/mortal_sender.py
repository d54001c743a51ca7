"""A process whose children send webhooks until they are killed: `python -m tests.webhooks.mortal_sender`.

The first line of stdin is what they need, as JSON. Each further line starts a child, whose process id is the answer.
Children are forks: to start six of them costs what it costs to start one.
"""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress

from app.config import read_settings
from app.db.session import PLATFORM
from app.parts import make_parts
from app.webhooks.retry_pauses import Pauses
from app.webhooks.sending import Sender

# So many that chance alone never gives an endpoint up.
PAUSES = Pauses(between_s=(0.01,) * 39, lease_s=0.5)


async def send(told: dict[str, str]) -> None:
    settings = read_settings({"MUSTER_SECRET_KEYS": told["keys"], "MUSTER_OUTBOUND_ALLOW": "127.0.0.1/32"})
    parts = make_parts(settings, told["database_url"])
    while True:
        await Sender(parts, PLATFORM, PAUSES).send_due()
        await asyncio.sleep(0.01)


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries them
    told, children = json.loads(sys.stdin.readline()), []
    for _ in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            asyncio.run(send(told))
        children.append(child)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
