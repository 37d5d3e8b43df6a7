"""What `svc doctor` asks a running server of itself. Changes nothing."""

import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Protocol

from svc.chat.config import ChatConfig
from svc.chat.control.commands import Command
from svc.chat.fields import Data, text
from svc.chat.status.probes import Probes


class Uploads(Protocol):
    """What is known of the worker's jobs and of the worker."""

    @property
    def waiting(self) -> int: ...
    @property
    def worker_up(self) -> bool: ...


class Link(Protocol):
    @property
    def faults(self) -> Sequence[str]: ...


class StatusCommands:
    """`address` tells where the server listens; empty while it does not."""

    def __init__(
        self, config: ChatConfig, probes: Probes, uploads: Uploads, link: Link, address: Callable[[], str]
    ) -> None:
        self._config = config
        self._probes = probes
        self._uploads = uploads
        self._link = link
        self._address = address

    def table(self) -> Mapping[str, Command]:
        return {"status_get": self.get, "status_probe": self.probe, "status_turn": self.turn}

    async def get(self, arguments: Data) -> object:
        config = self._config
        return {
            "version": version("svc-server"),
            "host": config.host,
            "port": config.port,
            "address": self._address(),
            "names": list(config.identity.names),
            "trusted_proxy_hops": config.trusted_proxy_hops,
            "sfu": config.media.url,
            "sfu_faults": list(self._link.faults),
            "worker": config.uploads.worker_url,
            "obstacle": config.identity.obstacle(),
            "jobs_waiting": self._uploads.waiting,
            "worker_up": self._uploads.worker_up,
        }

    async def probe(self, arguments: Data) -> object:
        arrival = self._probes.take(text(arguments, "mark", most=64))
        return {"arrival": arrival and arrival.described()}

    async def turn(self, arguments: Data) -> object:
        """The TURN server that members get, with a name and a password for whoever runs this server."""
        server = self._config.media.turn
        return {"server": server and server.described("doctor", time.time())}
