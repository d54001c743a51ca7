"""nginx and Caddy on loopback, with the configurations of `deploy/` and a certificate that is made for the test."""

import os
import socket
import ssl
import subprocess
import time
from pathlib import Path

from tests.cluster import ROOT
from tests.fakes.certificates import certify

DEPLOY = ROOT / "deploy"
NAME = "muster.example"
NGINX = """
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/muster.conf;
}}
"""


class Proxy:
    """A proxy that serves `https://muster.example` on a port of 127.0.0.1, and hands on to the two web processes."""

    def __init__(self, kind: str, folder: Path, port: int, plain_port: int, upstream: tuple[int, int]) -> None:
        self.folder, self.port, self.plain_port, self.upstream = folder, port, plain_port, upstream
        _make_certificate(folder)
        command, environment = self._nginx() if kind == "nginx" else self._caddy()
        self.log = folder / f"{kind}.out"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment},
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip

    @property
    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.folder / "cert.pem"))

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _nginx(self) -> tuple[list[str], dict[str, str]]:
        first, second = self.upstream
        text = _replaced(
            (DEPLOY / "nginx.conf").read_text(),
            {
                "server 127.0.0.1:8000 ": f"server 127.0.0.1:{first} ",
                "server 127.0.0.1:8001 ": f"server 127.0.0.1:{second} ",
                "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
                "listen 443 ssl http2;": f"listen 127.0.0.1:{self.port} ssl http2;",
                "muster.example.org": NAME,
                "/var/log/nginx/access.log": f"{self.folder}/access.log",
                "/etc/ssl/muster/fullchain.pem": f"{self.folder}/cert.pem",
                "/etc/ssl/muster/key.pem": f"{self.folder}/key.pem",
            },
        )
        (self.folder / "muster.conf").write_text(text)
        # Started by root, nginx would otherwise work as a user who may not look into the test's folder.
        user = "user root;" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(NGINX.format(folder=self.folder, user=user))
        return ["nginx", "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")], {}

    def _caddy(self) -> tuple[list[str], dict[str, str]]:
        first, second = self.upstream
        text = _replaced(
            (DEPLOY / "Caddyfile").read_text(),
            {
                "\n\tlog {": f"\n\tadmin off\n\tauto_https disable_redirects\n\thttp_port {self.plain_port}\n\tlog {{",
                "\trequest_body {": f"\tbind 127.0.0.1\n\ttls {self.folder}/cert.pem {self.folder}/key.pem\n\trequest_body {{",
            },
        )
        (self.folder / "Caddyfile").write_text(text)
        environment = {
            "MUSTER_HOST": f"{NAME}:{self.port}",
            "MUSTER_WEB": f"127.0.0.1:{first} 127.0.0.1:{second}",
            "XDG_DATA_HOME": str(self.folder),
        }
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(self.folder / "Caddyfile")], environment

    def await_start(self, patience_s: float = 30) -> None:
        deadline = time.monotonic() + patience_s
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=2) as plain:
                    self.trust.wrap_socket(plain, server_hostname=NAME).close()
            except OSError:
                assert self.process.poll() is None, self.said
                assert time.monotonic() < deadline, self.said
                time.sleep(0.05)
            else:
                return

    @property
    def said(self) -> str:
        """All of its logs."""
        logs = (self.log, self.folder / "nginx.log", self.folder / "access.log")
        return "\n".join(path.read_text() for path in logs if path.exists())


def _replaced(text: str, words: dict[str, str]) -> str:
    for word, other in words.items():
        assert word in text, f"{word!r} no longer stands in the configuration"
        text = text.replace(word, other)
    return text


def _make_certificate(folder: Path) -> None:
    made = certify(NAME)
    (folder / "cert.pem").write_bytes(made.certificate)
    (folder / "key.pem").write_bytes(made.key)
