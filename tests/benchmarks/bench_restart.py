"""How many requests a restart costs: two portals behind nginx, one of them restarted again and again under load.

    python -m tests.benchmarks.bench_restart [--restarts 10] [--clients 16]

Needs nginx (`apt-get install nginx-light`); says so and ends where there is none. The configuration is that of
docs/operate.md. Pages are asked for over kept connections, forms are sent too:
nginx sends those to the other portal only while none of it was sent.
"""

import argparse
import asyncio
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.db.session import Database
from tests.benchmarks.arena import arena
from tests.benchmarks.crowd import free_port, serving

NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    upstream muster {{ server 127.0.0.1:{one}; server 127.0.0.1:{other}; keepalive 32; }}
    server {{
        listen 127.0.0.1:{port};
        client_max_body_size 10m;
        location / {{
            proxy_pass http://muster;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }}
    }}
}}
"""
GET = b"GET /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
# No token: the portal itself refuses it, with 403. Anything else comes from nginx.
POST = b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\na=b"
EXPECTED = {GET: 200, POST: 403}
PAUSE_S = 0.02


@asynccontextmanager
async def proxied(one: int, other: int) -> AsyncIterator[int]:
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="muster-nginx-") as folder:
        file = Path(folder) / "nginx.conf"
        file.write_text(NGINX.format(folder=folder, one=one, other=other, port=port))
        process = subprocess.Popen(["nginx", "-c", str(file)], stderr=subprocess.DEVNULL)  # noqa: ASYNC220 - once
        try:
            await asyncio.sleep(1)
            yield port
        finally:
            process.terminate()
            process.wait(timeout=30)


async def ask_again_and_again(port: int, statuses: Counter[str]) -> None:
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for request in (GET, POST) * 50:
                writer.write(request)
                statuses[_judged(request, await _status(reader))] += 1
                await asyncio.sleep(PAUSE_S)
        except (OSError, asyncio.IncompleteReadError):
            statuses["no answer"] += 1
        finally:
            writer.close()


def _judged(request: bytes, status: int) -> str:
    return "answered" if status == EXPECTED[request] else f"{request[:4].decode().strip()} {status}"


async def _status(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if "content-length: " in head:
        await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
    else:
        while (size := int(await reader.readline(), 16)) > 0:
            await reader.readexactly(size + 2)
        await reader.readline()
    return int(head[9:12])


async def main(restarts: int, clients: int) -> None:
    if not shutil.which("nginx"):
        print("There is no nginx on this machine, so nothing was measured: apt-get install nginx-light.")
        return
    statuses: Counter[str] = Counter()
    restarted = free_port()
    async with arena() as database, serving(database, workers=1) as staying, proxied(restarted, staying.port) as port:
        asking = [asyncio.create_task(ask_again_and_again(port, statuses)) for _ in range(clients)]
        for _ in range(restarts):
            await _one_life(database, restarted)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    print(f"{restarts} restarts, {clients} clients: {dict(statuses)}")


async def _one_life(database: Database, port: int) -> None:
    async with serving(database, workers=1, port=port) as portal:
        await asyncio.sleep(2)
        await portal.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--clients", type=int, default=16)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.restarts, arguments.clients))
