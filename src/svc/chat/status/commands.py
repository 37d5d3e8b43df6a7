"""What `svc doctor` asks a running server of itself. Changes nothing."""

from collections.abc import Mapping
from importlib.metadata import version

from svc.chat.config import ChatConfig
from svc.chat.control.commands import Command
from svc.chat.fields import Data, text
from svc.chat.status.probes import Probes


class StatusCommands:
    def __init__(self, config: ChatConfig, probes: Probes) -> None:
        self._config = config
        self._probes = probes

    def table(self) -> Mapping[str, Command]:
        return {"status_get": self.get, "status_probe": self.probe}

    async def get(self, arguments: Data) -> object:
        config = self._config
        return {
            "version": version("svc-server"),
            "host": config.host,
            "port": config.port,
            "trusted_proxy_hops": config.trusted_proxy_hops,
            "sfu": config.media.url,
            "worker": config.uploads.worker_url,
        }

    async def probe(self, arguments: Data) -> object:
        arrival = self._probes.take(text(arguments, "mark", most=64))
        return {"arrival": arrival and arrival.described()}
