"""Runs nginx and Caddy in front of a chat server, with the configuration files from `deploy`, on free
loopback ports.

Only names, ports and certificates in the files are changed.
"""

import asyncio
from asyncio.subprocess import STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from svc.tools.certificate import read_or_create_certificate
from svc.tools.cluster_demo import free_ports
from tests.kit.external_programs import required
from tests.kit.wait import wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"
START_DEADLINE_S = 15.0
STOP_DEADLINE_S = 5.0


@dataclass(frozen=True)
class Proxy:
    http_port: int
    https_port: int
    # The certificate authority that a client must trust.
    certificate: Path


@asynccontextmanager
async def nginx(folder: Path, upstream: str) -> AsyncIterator[Proxy]:
    program = required("nginx")
    proxy = _proxy(folder)
    site = (DEPLOY / "nginx" / "svc.conf").read_text()
    for written, used in (
        ("127.0.0.1:5000", upstream),
        ("listen 80;", f"listen 127.0.0.1:{proxy.http_port};"),
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{proxy.https_port} ssl http2;"),
        ("    listen [::]:80;\n", ""),
        ("    listen [::]:443 ssl http2;\n", ""),
        ("https://$host$request_uri", f"https://$host:{proxy.https_port}$request_uri"),
        ("chat.example.org;", "localhost;"),
        ("/etc/letsencrypt/live/chat.example.org/fullchain.pem", str(proxy.certificate)),
        ("/etc/letsencrypt/live/chat.example.org/privkey.pem", str(proxy.certificate)),
    ):
        assert written in site, written
        site = site.replace(written, used)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}{site}}}\n"
    )
    command = (program, "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf"))
    async with _running(command, proxy):
        yield proxy


@asynccontextmanager
async def caddy(folder: Path, upstream: str) -> AsyncIterator[Proxy]:
    program = required("caddy")
    proxy = _proxy(folder)
    site = (DEPLOY / "caddy" / "Caddyfile").read_text()
    for written, used in (
        ("127.0.0.1:5000", upstream),
        (
            "chat.example.org {\n",
            f"https://localhost:{proxy.https_port} {{\n\tbind 127.0.0.1\n"
            f"\ttls {proxy.certificate} {proxy.certificate}\n",
        ),
    ):
        assert written in site, written
        site = site.replace(written, used)
    options = f"{{\n\tadmin off\n\thttp_port {proxy.http_port}\n\tstorage file_system {folder}/caddy\n}}\n"
    (folder / "Caddyfile").write_text(options + site)
    command = (program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile"))
    async with _running(command, proxy):
        yield proxy


PROXIES = {"nginx": nginx, "caddy": caddy}


def _proxy(folder: Path) -> Proxy:
    http_port, https_port = free_ports(2)
    return Proxy(http_port, https_port, read_or_create_certificate(folder, ["localhost"], datetime.now(UTC)))


@asynccontextmanager
async def _running(command: tuple[str, ...], proxy: Proxy) -> AsyncIterator[None]:
    log = proxy.certificate.with_name("proxy.log")
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(*command, stdout=written, stderr=STDOUT)
    try:

        async def listens() -> bool:
            assert process.returncode is None, log.read_text()
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", proxy.https_port)
            except OSError:
                return False
            writer.close()
            return True

        await wait_until("the proxy is listening", listens, within_s=START_DEADLINE_S)
        yield
    finally:
        if process.returncode is None:
            process.terminate()
            async with asyncio.timeout(STOP_DEADLINE_S):
                await process.wait()
