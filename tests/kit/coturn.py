"""Runs coturn with the configuration file from `deploy`. Only the certificate, the secret and the ports
differ.

It does not depend on calls.
"""

import asyncio
import ssl
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from svc.tools.certificate import read_or_create_certificate
from tests.kit.certificates import Pair
from tests.kit.external_programs import required
from tests.kit.wait import wait_until

FILE = Path(__file__).parents[2] / "deploy" / "coturn" / "turnserver.conf"
# The addresses in the configuration file: the SFU, which is the permitted peer, and the TURN server itself.
SFU, TURN = "203.0.113.1", "203.0.113.2"
PORT, TLS_PORT = 3478, 443
NAME = "turn.example.org"
SECRET = "a secret of a test that nobody knows"
WITHIN_S = 30.0


@asynccontextmanager
async def coturn(
    folder: Path,
    *,
    inside: Sequence[str] = (),
    port: int = PORT,
    tls_port: int = TLS_PORT,
    pair: Pair | None = None,
) -> AsyncIterator[ssl.SSLContext]:
    """Run coturn at an address of this machine, or in the namespace `inside`. Yield the client's TLS context.

    Without a `pair`, coturn gets a self-signed certificate.
    """
    if pair:
        certificate, key = pair.write(folder)
    else:
        certificate = key = read_or_create_certificate(folder, [NAME], datetime.now(UTC))
    settings = FILE.read_text()
    for written, used in (
        (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", str(certificate)),
        (f"/etc/letsencrypt/live/{NAME}/privkey.pem", str(key)),
        ("CHANGE-ME-openssl-rand-hex-32", SECRET),
        (f"tls-listening-port={TLS_PORT}", f"tls-listening-port={tls_port}"),
        (f"\nlistening-port={PORT}", f"\nlistening-port={port}"),
        ("simple-log", f"log-file={folder}/log\nsimple-log\npidfile={folder}/pid\nuserdb={folder}/users"),
    ):
        assert written in settings, written
        settings = settings.replace(written, used)
    (folder / "turnserver.conf").write_text(settings)
    process = await asyncio.create_subprocess_exec(
        *inside, required("turnserver"), "-c", str(folder / "turnserver.conf"), stdout=DEVNULL, stderr=DEVNULL
    )

    async def listens() -> bool:
        assert process.returncode is None, "coturn has exited"
        log = folder / "log"
        return log.exists() and "IO method (admin thread)" in log.read_text(errors="replace")

    try:
        await wait_until("coturn is running", listens, within_s=WITHIN_S)
        context = ssl.create_default_context(cafile=str(certificate))
        context.check_hostname = False
        yield context
    finally:
        process.terminate()
        await process.wait()
